"""Derivatives of functions on the shared tape (PyTorch's `torch.autograd.functional`): `create_graph` and `strict` as there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd.batches import stack
from tenfold.autograd.derivatives import grad as gradient_of
from tenfold.autograd.jacobians import jacfwd, unit_vectors
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.tape import grad
from tenfold.autograd.vmap import vmap
from tenfold.dispatch.gradmode import enable_grad
from tenfold.ops.creation.factories import zeros
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.ops.view.shapes import expand, reshape
from tenfold.tensor.tensor import Tensor

Function = Callable[..., Any]
__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tensors(value: Any, what: str, name: str) -> tuple[bool, tuple[Any, ...]]:
    """(whether it was a tuple, the tensors)."""
    is_tuple = isinstance(value, (tuple, list))
    given = tuple(value) if is_tuple else (value,)
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            which = f"value at index {i}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} has type {type(t)}."
            )
    return is_tuple, given


def _prepare(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Starting points of the graph: connected to the caller's with `create_graph`, else leaves of their own."""
    if SCOPES.depth or any(t._key.level is not None and not t._key.transform.by_hand for t in inputs):
        raise RuntimeError(
            "tenfold.autograd.functional works by Tensor.requires_grad_() and not inside of a function being transformed (as "
            "PyTorch's torch.autograd.functional.*): use tenfold.func there, whose transforms nest."
        )
    if create_graph:
        return tuple(expand(x, x.shape) if x.requires_grad else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _finish(values: Any, create_graph: bool, strict: bool = False) -> Any:
    """What the caller gets; with a graph, strict mode refuses derivatives that do not depend on the inputs."""
    if not create_graph:
        return tuple(v.detach() for v in values)
    for i, v in enumerate(values):
        if strict and not v.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                f"when create_graph=True."
            )
    return values


def _shown(values: tuple[Any, ...], is_tuple: bool) -> Any:
    return values if is_tuple else values[0]


def _run(func: Function, inputs: tuple[Any, ...], name: str, strict: bool) -> tuple[bool, tuple[Any, ...]]:
    is_tuple, outputs = _tensors(func(*inputs), "outputs of the user-provided function", name)
    if strict:
        for i, t in enumerate(outputs):
            if not t.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                    f"differentiable manner from the input when running in strict mode."
                )
    return is_tuple, outputs


# What strict mode says of an input that the derivatives it takes do not depend on.
_INDEPENDENT = "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
_LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input. This is not allowed in strict mode. The function must be twice differentiable and no linear one."
)


def _gradients(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], vs: tuple[Any, ...], create_graph: bool, strict: bool = False,
    message: str = _INDEPENDENT,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Gradients, zeros for independent inputs (an error in strict mode)."""
    pairs = [(t, v) for t, v in zip(outputs, vs) if t is not None and t._node is not None]
    if pairs:
        found = grad([t for t, _ in pairs], inputs, [v for _, v in pairs], True, create_graph, allow_unused=True)
    else:
        found = (None,) * len(inputs)
    if strict and any(g is None for g in found):
        i = next(i for i, g in enumerate(found) if g is None)
        raise RuntimeError(message.format(i=i))
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, inputs))


def _vectors(v: Any, targets: tuple[Tensor, ...], name: str) -> tuple[Tensor, ...]:
    """The vector of a product, checked; ones for a single element."""
    if v is None:
        if len(targets) != 1 or targets[0].numel() != 1:
            whose = "the user-provided function returns" if name == "vjp" else "the input to the user-provided function is"
            raise RuntimeError(f"The vector v can only be None if {whose} a single Tensor with a single element.")
        return (ones_like(targets[0]),)
    _, given = _tensors(v, "v", name)
    if len(given) != len(targets):
        if len(targets) == 1:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(targets)} but got {len(given)}.")
    for i, (g, t) in enumerate(zip(given, targets)):
        if g.shape != t.shape:
            entry = f"Entry {i} in v" if len(targets) > 1 else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {t.shape} but got {g.shape}.")
    return given


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(inputs), vᵀ J): the product of a vector with the Jacobian.

    >>> import tenfold
    >>> from tenfold.autograd.functional import vjp
    >>> vjp(lambda x: x * x, tenfold.tensor([1., 3.]), tenfold.tensor([1., 10.]))
    (tensor([1., 9.]), tensor([ 2., 60.]))
    """
    with enable_grad():
        is_tuple, given = _tensors(inputs, "inputs", "vjp")
        xs = _prepare(given, create_graph)
        out_tuple, outputs = _run(func, xs, "vjp", strict)
        vs = _vectors(v, outputs, "vjp")
        found = _gradients(outputs, xs, vs, create_graph, strict)
    return _shown(_finish(outputs, create_graph), out_tuple), _shown(_finish(found, create_graph, strict), is_tuple)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(inputs), J v): the product of the Jacobian with a vector, by differentiating vᵀ J by its vector.

    >>> import tenfold
    >>> from tenfold.autograd.functional import jvp
    >>> jvp(lambda x: x * x, tenfold.tensor([1., 3.]), tenfold.tensor([1., 10.]))
    (tensor([1., 9.]), tensor([ 2., 60.]))
    """
    with enable_grad():
        _, given = _tensors(inputs, "inputs", "jvp")
        vs = _vectors(v, given, "jvp")
        xs = _prepare(given, create_graph)
        out_tuple, outputs = _run(func, xs, "jvp", strict)
        us = tuple(zeros_like(t.detach()).requires_grad_() for t in outputs)
        pulled = _gradients(outputs, xs, us, True, strict)
        found = _gradients(pulled, us, vs, create_graph)
    return _shown(_finish(outputs, create_graph), out_tuple), _shown(_finish(found, create_graph, strict), out_tuple)


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian for each pair of output and input. Shape: output.shape + input.shape.

    `vectorize` takes all rows at once with vmap; `strategy` "forward-mode" (only so) takes the columns.

    >>> import tenfold
    >>> from tenfold.autograd.functional import jacobian
    >>> jacobian(lambda x: x * x, tenfold.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise ValueError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: "forward-mode" needs vectorize=True'
        )
    is_tuple, given = _tensors(inputs, "inputs", "jacobian")
    if strategy == "forward-mode":
        return _forward_jacobian(func, given, is_tuple, create_graph, strict, vectorize)
    if strict and vectorize:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorize=True` are not supported together. Please set one of them to False."
        )
    with enable_grad():
        xs = _prepare(given, create_graph)
        out_tuple, outputs = _run(func, xs, "jacobian", strict)
        if strict:
            _require_all(outputs, xs)
        basis, starts = unit_vectors(list(outputs))

        def row(*vs: Tensor) -> tuple[Tensor, ...]:
            return _gradients(outputs, xs, vs, create_graph)

        if vectorize and starts[-1]:
            rows = vmap(row)(*basis)
        else:
            each = [row(*[b[i] for b in basis]) for i in range(starts[-1])]
            rows = tuple(stack(list(column)) for column in zip(*each)) if each else None
        blocks = []
        for out, start in zip(outputs, starts):
            block = tuple(_block(rows, k, x, out, start) for k, x in enumerate(xs))
            blocks.append(_shown(_finish(block, create_graph, strict), is_tuple))
    return _shown(tuple(blocks), out_tuple)


def _require_all(outputs: tuple[Any, ...], xs: tuple[Any, ...]) -> None:
    """Strict mode's check that each output depends on each input."""
    for i, t in enumerate(outputs):
        _gradients((t,), xs, (ones_like(t),), False, True, f"Output {i} of {_INDEPENDENT.removeprefix('The output of ')}")


def _block(rows: Any, k: int, x: Tensor, out: Tensor, start: int) -> Tensor:
    shape = (*out.shape, *x.shape)
    if rows is None:
        return zeros(shape, dtype=x.dtype, device=x.device)
    part = rows[k] if out.numel() == rows[k].shape[0] else rows[k][start : start + out.numel()]
    return reshape(part, shape)


def _forward_jacobian(
    func: Function, inputs: tuple[Any, ...], is_tuple: bool, create_graph: bool, strict: bool, vectorize: bool
) -> Any:
    if strict:
        raise NotImplementedError('jacobian: `strict=True` and `strategy="forward-mode"` are not supported together')
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`."
        )
    given = inputs if create_graph else tuple(x.detach() for x in inputs)
    return jacfwd(func, tuple(range(len(inputs))) if is_tuple else 0)(*given)


def _scalar(func: Function, xs: tuple[Any, ...], name: str, strict: bool) -> Any:
    is_tuple, outputs = _run(func, xs, name, strict)
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs[0]


def hessian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function with one element, for each pair of inputs. Shape: input.shape + input.shape.

    >>> import tenfold
    >>> from tenfold.autograd.functional import hessian
    >>> hessian(lambda x: (x * x * x).sum(), tenfold.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    is_tuple, given = _tensors(inputs, "inputs", "hessian")

    def gradient(*xs: Any) -> Any:
        xs = tuple(expand(x, x.shape) if x.requires_grad else x.detach().requires_grad_() for x in xs)
        with enable_grad():
            found = _gradients((reshape(_scalar(func, xs, "hessian", strict), ()),), xs, (None,), True, strict, _LINEAR)
        if strict:
            _require_dependent(found)
        return found

    def gradient_by_function(*xs: Any) -> Any:
        return gradient_of(lambda *ys: reshape(_scalar(func, ys, "hessian", False), ()), tuple(range(len(xs))))(*xs)

    if outer_jacobian_strategy == "forward-mode":
        found = jacobian(gradient_by_function, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    else:
        found = jacobian(gradient, given, create_graph, strict, vectorize)
    return found if is_tuple else found[0][0]


def _require_dependent(gradients: tuple[Any, ...]) -> None:
    """Strict mode's check of first derivatives that are to be differentiated once more."""
    for i, g in enumerate(gradients):
        if not g.requires_grad:
            raise RuntimeError(_LINEAR.format(i=i))


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(inputs), vᵀ H): the product of a vector with the Hessian of a function with one element.

    >>> import tenfold
    >>> from tenfold.autograd.functional import vhp
    >>> vhp(lambda x: (x * x * x).sum(), tenfold.tensor([1., 2.]), tenfold.tensor([1., 1.]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    with enable_grad():
        is_tuple, given = _tensors(inputs, "inputs", name)
        xs = _prepare(given, create_graph)
        vs = _vectors(v, xs, name)
        output = _scalar(func, xs, name, strict)
        first = _gradients((output,), xs, (ones_like(output),), True, strict)
        if strict:
            _require_dependent(first)
        found = _gradients(first, xs, vs, create_graph, strict, _LINEAR)
    return _finish((output,), create_graph)[0], _shown(_finish(found, create_graph, strict), is_tuple)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(inputs), H v): the product of the Hessian of a function with one element and a vector.

    >>> import tenfold
    >>> from tenfold.autograd.functional import hvp
    >>> hvp(lambda x: (x * x * x).sum(), tenfold.tensor([1., 2.]), tenfold.tensor([1., 1.]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)  # the Hessian is symmetric


def _construct_standard_basis_for(tensors: Any, tensor_numels: Any = None) -> tuple[Any, ...]:
    """Unit vectors of the space of all tensors together, a matrix for each: programs of their own Jacobians import this."""
    basis, starts = unit_vectors(list(tensors))
    return tuple(b.reshape(starts[-1], t.numel()) for b, t in zip(basis, tensors))


_as_tuple = _tensors  # under the names that such programs import, with those below


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Results as they are given back: off the graph unless it was asked for; tuples in tuples, too."""
    if isinstance(inputs[0], Tensor):
        return inputs if create_graph else tuple(t.detach() for t in inputs)
    return tuple(_grad_postprocess(t, create_graph) for t in inputs)


def _tuple_postprocess(res: Any, to_unpack: Any) -> Any:
    """Results without the tuples that the caller did not give: `to_unpack` says of outputs and inputs whether they were some."""
    if not isinstance(to_unpack, tuple):
        return _shown(res, to_unpack)
    outputs, inputs = to_unpack
    return _shown(tuple(_shown(each, inputs) for each in res), outputs)
