"""What core and users call on the tape: leaves, `backward`, `grad`."""

from __future__ import annotations

from typing import Any

from tenfold.autograd import engine
from tenfold.autograd.gradients import find
from tenfold.autograd.hooks import register_post_accumulate_hook, register_tensor_hook, retain_grad
from tenfold.autograd.inplace import rebase
from tenfold.autograd.nodes import AccumulateGrad, Node
from tenfold.autograd.recording import make_attach
from tenfold.dispatch.operators import Operator
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.tensor.tensor import Tensor

__all__ = [
    "backward", "grad", "has_gradient", "leaf", "make_attach", "rebase", "register_post_accumulate_hook",
    "register_tensor_hook", "retain_grad",
]  # fmt: skip


def leaf(tensor: Tensor) -> AccumulateGrad:
    """The node that marks a leaf as requiring gradients."""
    return AccumulateGrad(tensor)


def has_gradient(operator: Operator) -> bool:
    """Whether an operator has a gradient rule."""
    return find(operator) is not None


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, Tensor) else tuple(value)


def _roots(tensors: tuple[Tensor, ...], grads: tuple[Any, ...], what: str) -> list[tuple[Node, Any]]:
    if len(grads) != len(tensors):
        raise RuntimeError(f"{what}: got {len(tensors)} tensors and {len(grads)} gradients")
    roots = []
    for i, (t, g) in enumerate(zip(tensors, grads)):
        if t._node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        roots.append((t._node, _root_gradient(t, g)))
    return roots


def _root_gradient(t: Tensor, g: Any) -> Any:
    if g is None:
        if t.numel() != 1:
            raise RuntimeError(f"grad can be implicitly created only for scalar outputs, got a tensor of shape {list(t.shape)}")
        if t.is_complex():
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {t.dtype}")
        return ones_like(t)
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g.shape != t.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {tuple(g.shape)} and output[0] has a shape of {tuple(t.shape)}."
        )
    return g if g.dtype is t.dtype else g.to(t.dtype)


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
    grads = _as_tuple(grad_tensors) or (None,) * len(given)
    wanted = _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _roots(given, grads, "backward")
    keep = create_graph if retain_graph is None else retain_graph
    if not wanted:
        engine.run(roots, keep, create_graph)
        return
    captures = {_node_of(t, "backward"): None for t in wanted if not t.is_leaf}
    leaves = {t._node for t in wanted if t.is_leaf and t._node is not None}
    engine.run(roots, keep, create_graph, captures, True, leaves)
    for t in wanted:
        if not t.is_leaf and captures.get(t._node) is not None:
            g: Any = captures[t._node]
            t._grad = g if t.grad is None else t.grad + g


def _node_of(t: Any, what: str) -> Node:
    node = getattr(t, "_node", None)
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
    if is_grads_batched:
        from tenfold.autograd.vmap import vmap  # a first gradient does without batching

        def one(*gs: Any) -> Any:
            return grad(outs, ins, gs, True, create_graph, allow_unused=allow_unused, materialize_grads=materialize_grads)

        return tuple(vmap(one)(*_as_tuple(grad_outputs)))
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    nodes = [_node_of(t, "grad") for t in ins]
    captures: dict[Node, Any] = dict.fromkeys(nodes)
    roots = _roots(outs, _as_tuple(grad_outputs) or (None,) * len(outs), "grad")
    engine.run(roots, create_graph if retain_graph is None else retain_graph, create_graph, captures, accumulate=False)
    return tuple(_found(t, captures[node], allow_unused, materialize_grads) for t, node in zip(ins, nodes))


def _found(t: Tensor, g: Any, allow_unused: bool | None, materialize: bool) -> Any:
    if g is not None:
        return g
    if materialize:
        return zeros_like(t)
    if not allow_unused:
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this "
            "is the desired behavior."
        )
    return None
