"""What core and users call on the tape: leaves, `backward`, `grad`."""

from __future__ import annotations

import warnings
import weakref
from math import prod
from typing import Any, NamedTuple

from tenfold.autograd import engine
from tenfold.autograd.detached import leave
from tenfold.autograd.gradients import find
from tenfold.autograd.hooks import register_post_accumulate_hook, register_tensor_hook, retain_grad
from tenfold.autograd.inplace import rebase, reshaped, way_to
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.nodes import AccumulateGrad, Node, Output, ViewOutsideGraph
from tenfold.autograd.recording import make_attach
from tenfold.autograd.seen import seen
from tenfold.autograd.written import record_write
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.gradmode import enable_grad
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function, is_tensor_like
from tenfold.dispatch.runtime import RUNTIME
from tenfold.ops.creation.factories import ones
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.settings.warnings import warn_once
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import Tensor, wrap

__all__ = [
    "backward", "grad", "handed_over", "has_gradient", "is_transformed", "leaf", "make_attach", "of_base", "rebase",
    "record_write",
    "register_post_accumulate_hook", "register_tensor_hook", "reshaped", "rest", "retain_grad",
    "way_to",
]  # fmt: skip


# Nodes of leaves that ask for no gradient at present, by the tensor's id, each with what takes it out when the tensor goes.
_RESTING: dict[int, tuple[AccumulateGrad, Any]] = {}


def leaf(tensor: Tensor) -> AccumulateGrad:
    """The node that marks a leaf as requiring gradients: the one that it had before, which graphs and hooks know."""
    node, _ = _RESTING.pop(id(tensor), (None, None))
    if node is None:
        return AccumulateGrad(tensor)
    node._shape = tensor._array.shape
    return node


def of_base(view: Tensor) -> AccumulateGrad | None:
    """The node of a view of a tensor that requires gradients, made where nothing is recorded; None if it can have none."""
    return ViewOutsideGraph(view) if view.dtype.category > 1 else None


def rest(tensor: Tensor) -> None:
    """Take a tensor's node off. A leaf's is kept for the time when it requires gradients again, with the hooks of the last."""
    node, key = tensor._node, id(tensor)
    for entry in () if tensor._storage is None else tensor._storage.views.values():
        view = entry()
        if view is not None and view._base is tensor and view._node is not None and view._node.of_base:
            view._node = None
    if node is not None and not node.is_leaf:
        leave(tensor)
        hooks = node._extra.get("tensor") if node._extra else None
        node, _ = _RESTING.get(key, (None, None))
        if node is not None or hooks:
            node = node or AccumulateGrad(tensor)
            node.extras()["tensor"] = hooks or {}
    if type(node) is AccumulateGrad and node.ref() is tensor:
        _RESTING[key] = node, weakref.ref(tensor, lambda _: _RESTING.pop(key, None))
    tensor._node = None


def is_transformed(node: Node) -> bool:
    """Whether a tensor with this node is one that a function being differentiated computes with."""
    return SCOPES.depth > 0 and (not node.is_leaf or hasattr(node, "closed"))


def handed_over(node: Node, tensor: Tensor) -> Node:
    """The node of a tensor that took another's place. A leaf gets one of its own, with the former's hooks."""
    if not node.is_leaf:
        if node.retains(tensor):
            node.extras()["retain"] = weakref.ref(tensor)
        return node
    made = leaf(tensor)
    made._extra, node._extra = node._extra, None
    node.register_prehook(_refuse_swapped)
    node.ref = _no_leaf  # type: ignore[attr-defined]  # a graph that lives on does not keep the leaf from being swapped again
    return made


def _no_leaf() -> None:
    """What a leaf's node refers to that no leaf has any more."""


def _refuse_swapped(gradients: Any) -> None:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors: this leaf took another's place after the graph "
        "was recorded. Run backward before you swap, or (with set_swap_module_params_on_conversion) before you convert or load "
        "the module, or run forward again."
    )


def has_gradient(operator: Operator) -> bool:
    """Whether an operator has a gradient rule."""
    return find(operator) is not None


class GradientEdge(NamedTuple):
    """(node, output number): where a gradient enters the graph, without the tensor there."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge into which the tensor's gradient flows.

    >>> import tenfold
    >>> from tenfold.autograd.graph import get_gradient_edge
    >>> x = tenfold.ones(1, requires_grad=True)
    >>> get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    node = tensor._node
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    return GradientEdge(node.parent, node.index, node) if node.is_output else GradientEdge(node.shown, 0, node)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if type(value) is Tensor:
        return (value,)
    if value is None:
        return ()
    return (value,) if isinstance(value, GradientEdge) or is_tensor_like(value) else tuple(value)


def _roots(outputs: tuple[Any, ...], grads: tuple[Any, ...], what: str) -> list[tuple[Node, Any]]:
    if len(grads) != len(outputs):
        raise RuntimeError(f"{what}: got {len(outputs)} tensors and {len(grads)} gradients")
    roots: list[tuple[Node, Any]] = []
    for i, (t, g) in enumerate(zip(outputs, grads)):
        if type(t) is type(g) is Tensor and t._key is g._key is CPU and t._node is not None and _alike(t._array, g._array):
            roots.append((t._node, g))
            continue
        if isinstance(t, GradientEdge):
            roots.append((_entry(t), _edge_gradient(t, g)))
            continue
        t = _primal(t)
        if isinstance(t, Holding):  # one of another layout: by its elements, those that are not stored included
            with enable_grad():
                t, g = t._root(g)
        if t._node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        roots.append((t._node, _root_gradient(t, g, i)))
    return roots


def _alike(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype is b.dtype


def _entry(edge: GradientEdge) -> Node:
    """The node at which a gradient enters at an edge."""
    node = edge.node
    return Output(node, edge.output_nr, node._shape[edge.output_nr][0]) if node.is_multiple else node


def _edge_gradient(edge: GradientEdge, g: Any) -> Any:
    if g is not None:
        return g
    shape = edge.node._shape[edge.output_nr][0] if edge.node.is_multiple else edge.node._shape
    if prod(shape) != 1:
        raise RuntimeError(f"grad can be implicitly created only for scalar outputs, got an edge of shape {list(shape)}")
    return ones(shape)


def _root_gradient(t: Tensor, g: Any, i: int) -> Any:
    if g is None:
        array = t._array
        if t._key is CPU and array.size == 1 and array.dtype.kind == "f" and not RUNTIME["ACTIVE"]:
            one = array.copy()  # `ones_like` below takes five times as long, of every backward pass
            one.fill(1)
            return wrap(one, CPU)
        if t.numel() != 1:
            raise RuntimeError(f"grad can be implicitly created only for scalar outputs, got a tensor of shape {list(t.shape)}")
        if t.is_complex():
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {t.dtype}")
        many = getattr(t.device.backend, "many", None)  # of a device that has a shorter way
        one = many.one(t) if many is not None and t._key.level is None and not RUNTIME["ACTIVE"] else None
        return ones_like(t) if one is None else one
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g.shape != t.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}."
        )
    if g.is_complex() != t.is_complex():
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {t.dtype}."
        )
    return g if g.dtype is t.dtype else g.to(t.dtype)


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can "
    "cause a memory leak. Use autograd.grad for gradients that are to be differentiated, or set the .grad of the parameters to "
    "None after use."
)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of `tensors` with respect to the leaves to the leaves' `.grad`.

    >>> import tenfold
    >>> x = tenfold.tensor([2.0], requires_grad=True)
    >>> tenfold.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([4.])
    """
    given = _as_tuple(tensors)
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    grads = _as_tuple(grad_tensors) or (None,) * len(given)
    wanted = _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        warn_once("backward with a graph", _CYCLE, 2)
    roots = _roots(given, grads, "backward")
    keep = create_graph if retain_graph is None else retain_graph
    if not wanted:
        engine.run(roots, keep, create_graph)
        return
    engine.run(roots, keep, create_graph, None, True, {_receiving(t) for t in wanted})


def _receiving(t: Any) -> Node:
    """The node that a backward pass must run for a tensor to get its `.grad`."""
    if isinstance(t, GradientEdge):
        return t.node  # type: ignore[no-any-return]
    node = _node_of(t, "backward")
    if not node.is_leaf:
        retain_grad(_on_tape(t))
    return node.parent if isinstance(node, Output) else node  # which keeps the gradients of its results


def _primal(t: Any) -> Any:
    """The tensor on the tape: of a dual tensor made by hand its value."""
    while t._node is None and t._key.level is not None and getattr(t._key.transform, "by_hand", False):
        t = t._array.value
    return t


def _on_tape(t: Any) -> Any:
    """The tensor that has the place in the graph: of one of another layout that of the numbers it holds."""
    return t._held if isinstance(t, Holding) else _primal(t)


def _node_of(t: Any, what: str) -> Node:
    node = getattr(_on_tape(t) if isinstance(t, Tensor) else t, "_node", None)
    if node is None:
        raise RuntimeError(f"{what}: One of the differentiated Tensors does not require grad")
    return node  # type: ignore[no-any-return]


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of the outputs' sum with respect to the inputs, without touching any `.grad`.

    Raises RuntimeError for an input that the outputs do not depend on, unless `allow_unused` (then None) or
    `materialize_grads` (then zeros).

    >>> import tenfold
    >>> x = tenfold.tensor([3.0], requires_grad=True)
    >>> tenfold.autograd.grad((x * x).sum(), x)
    (tensor([6.]),)
    """
    outs, ins = _as_tuple(outputs), _as_tuple(inputs)
    if (RUNTIME["ACTIVE"] or {*map(type, outs), *map(type, ins)} != {Tensor}) and has_torch_function(
        asked := _asked(*outs, *ins)
    ):
        options = {"only_inputs": only_inputs, "allow_unused": allow_unused, "is_grads_batched": is_grads_batched}
        graph = {"retain_graph": retain_graph, "create_graph": create_graph, "materialize_grads": materialize_grads}
        return handle_torch_function(grad, asked, outs, ins, grad_outputs=grad_outputs, **graph, **options)  # type: ignore[no-any-return]
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now: backward() accumulates gradients of other leaves.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if is_grads_batched:
        return _batched(outs, ins, _as_tuple(grad_outputs), create_graph, allow_unused, materialize_grads)
    places = [_place(t) for t in ins]
    captures: dict[Node, Any] = dict.fromkeys(node for node, _ in places)
    roots = _roots(outs, _as_tuple(grad_outputs) or (None,) * len(outs), "grad")
    engine.run(roots, create_graph if retain_graph is None else retain_graph, create_graph, captures, accumulate=False)
    found = [seen(captures[node] if nr is None or captures[node] is None else captures[node][nr]) for node, nr in places]
    return tuple(
        [
            g if g is not None and type(t) is Tensor else _found(i, t, g, allow_unused, materialize_grads, create_graph)
            for i, (t, g) in enumerate(zip(ins, found))
        ]
    )


def _asked(*given: Any) -> list[Any]:
    """Whose classes are asked about a call: not those of our layouts, which have tables of operators."""
    return [t for t in given if not getattr(t, "_asked_for_operators_alone", False)]


def _place(t: Any) -> tuple[Node, int | None]:
    """The node at which a gradient is caught, and its place in the list of gradients that arrives there."""
    node: Any = t._node if type(t) is Tensor else None
    if node is not None and not node.is_output:
        return node, None
    if isinstance(t, GradientEdge):
        return t.node, t.output_nr if t.node.is_multiple else None
    node = _node_of(t, "grad")
    return (node.parent, node.index) if node.is_output else (node, None)


def _batched(
    outs: tuple[Any, ...], ins: tuple[Any, ...], gs: tuple[Any, ...], create_graph: bool, allow_unused: Any, materialize: bool
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients for every entry of the first dimension of the outputs' gradients."""
    from tenfold.autograd.vmap import vmap  # a first gradient does without batching

    for i, (t, g) in enumerate(zip(outs, gs)):
        if g is not None and g.shape[1:] != t.shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
                f"sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
                f"detected: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}. If you only want "
                f"some tensors in `grad_output` to be considered batched, consider using vmap."
            )

    used: list[bool] = []

    def one(*given: Any) -> Any:
        found = grad(outs, ins, given, True, create_graph, allow_unused=materialize or allow_unused)
        used[:] = [g is not None for g in found]
        return tuple([g for g in found if g is not None])

    found = iter(vmap(one)(*gs))
    unused = (True, materialize, create_graph)
    return tuple([next(found) if there else _found(i, t, None, *unused) for i, (t, there) in enumerate(zip(ins, used))])


def _found(i: int, t: Any, g: Any, allow_unused: bool | None, materialize: bool, create_graph: bool) -> Any:
    if g is not None:
        return t._gradient(g) if isinstance(t, Holding) else g
    if materialize:
        if isinstance(t, GradientEdge):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        return zeros_like(t, requires_grad=create_graph)  # with a graph it can be differentiated once more
    if not allow_unused:
        raise RuntimeError(
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this "
            f"is the desired behavior."
        )
    return None
