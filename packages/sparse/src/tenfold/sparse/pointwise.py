"""Operators that work element by element and keep zeros."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.dispatch.services import SERVICES
from tenfold.sparse.coo import SparseTensor, _keys
from tenfold.sparse.shapes import broadcast_to
from tenfold.sparse.table import NEEDS_SUM, TABLE, knows
from tenfold.types.dtypes import type_name
from tenfold.types.promotion import of_values

# f(0) = 0 and f(a + b) = f(a) + f(b): repeated coordinates may stay
LINEAR = "neg negative positive clone detach contiguous real imag conj"
# f(0) = 0 alone: the values of equal coordinates have to be summed first
ZERO_KEEPING = (
    "abs absolute sin sinh tan tanh asin arcsin asinh arcsinh atan arctan atanh arctanh sqrt square ceil floor round trunc fix "
    "sgn sign relu expm1 log1p erf erfinv deg2rad rad2deg isnan isinf isposinf isneginf frac signbit angle"
)
CONVERSIONS = "to float double half bfloat16 int long short char byte bool cpu cuda type_as"


def mapped(x: SparseTensor, held: Tensor) -> SparseTensor:
    """The tensor with other values at the same coordinates."""
    return SparseTensor.of(x._at.to(held.device), held, x.shape, x._is_summed)


def of_held(x: Any, name: str, args: Any, kwargs: Any) -> Tensor:
    """What a method gives of the values, or an attribute, as `real` is."""
    found = getattr(x._held, name)
    return found(*args, **kwargs) if callable(found) else found  # type: ignore[no-any-return]


def _of_values(name: str, coalesced: bool) -> Any:
    def run(input: Any, *args: Any, **kwargs: Any) -> SparseTensor:
        x = input.coalesce() if coalesced else input
        args = tuple(a._held if isinstance(a, SparseTensor) else a for a in args)
        held = of_held(x, name, args, kwargs)
        return x if held is x._held else mapped(x, held)  # which has the dtype and device that are asked for

    return run


for _names, _coalesced in ((LINEAR + " " + CONVERSIONS, False), (ZERO_KEEPING, True)):
    for _name in _names.split():
        TABLE[_name] = _of_values(_name, _coalesced)
NEEDS_SUM.update(ZERO_KEEPING.split())


@knows("pow")
def pow(input: Any, exponent: Any) -> SparseTensor:
    """A power above zero."""
    if not isinstance(exponent, (int, float)) or exponent <= 0:
        raise NotImplementedError(
            f"pow: a sparse tensor needs a number above zero as exponent, got {exponent!r}: zeros would be filled"
        )
    return mapped(input.coalesce(), input.coalesce()._held ** exponent)


@knows("add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Sum: of sparse tensors their coordinates together; onto a dense tensor, a dense one."""
    if not isinstance(other, SparseTensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not isinstance(input, SparseTensor):
        _refuse_broadcast("add", input, other)
        return tenfold.add(input, other.to_dense(), alpha=alpha)
    if input.shape != other.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(input.shape)} != {list(other.shape)}")
    if not input._nnz() or not other._nnz():  # which have no elements may have other dimensions without coordinates
        dtype = of_values((input, other))
        return other.to(dtype) * alpha if not input._nnz() else input.to(dtype).clone()
    if input.sparse_dim() != other.sparse_dim():
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same density, but 'self' has {input.sparse_dim()} sparse dimensions while "
            f"'other' has {other.sparse_dim()} sparse dimensions"
        )
    scaled = other._held if alpha == 1 else other._held.to(of_values((input, other))) * alpha
    # Elements at equal coordinates are summed at once, but for expanded values (the gradient of a sum), as in PyTorch.
    dense = input._held.is_contiguous() and other._held.is_contiguous()
    if (dense or input._is_summed) and (input._at is other._at or tenfold.equal(input._at, other._at)):
        return mapped(input, input._held + scaled)
    at, held = tenfold.cat([input._at, other._at], 1), _cat_values(input._held, scaled)
    both = SparseTensor.of(at, held, input.shape)
    return both.coalesce() if input._is_summed and other._is_summed else both


def _refuse_broadcast(name: str, dense: Any, other: SparseTensor) -> None:
    if isinstance(dense, Tensor) and dense.shape != other.shape:
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same size, but self has size {list(dense.shape)} while other has size "
            f"{list(other.shape)}: sums of dense and sparse tensors do not broadcast"
        )


@knows("add_scaled", "sub_scaled")
def add_scaled(input: Any, other: Any, alpha: Any) -> Any:
    """Sum with a multiple: what `add_(other, alpha=)` of a dense tensor runs."""
    return add(input, other, alpha=alpha)


def _cat_values(a: Tensor, b: Tensor) -> Tensor:
    dtype = of_values((a, b))
    return tenfold.cat([a.to(dtype), b.to(dtype)])


@knows("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Difference."""
    if isinstance(input, Tensor) and not isinstance(input, SparseTensor):
        _refuse_broadcast("sub", input, other)
        return tenfold.sub(input, other.to_dense(), alpha=alpha)
    return add(input, other, alpha=-alpha)


@knows("mul", "multiply")
def mul(input: Any, other: Any) -> Any:
    """Product: with a number, with a dense tensor at the coordinates, or of two sparse tensors where both have elements.

    >>> import tenfold
    >>> (tenfold.sparse_coo_tensor([[0, 2]], [3.0, 4.0], (3,)) * tenfold.tensor([1.0, 2.0, 10.0])).to_dense()
    tensor([ 3.,  0., 40.])
    """
    if not isinstance(input, SparseTensor):
        input, other = other, input
    if isinstance(other, SparseTensor):
        if not input.ndim or not other.ndim:  # one of them is a number
            x, number = (input, other) if other.ndim == 0 else (other, input)
            return mapped(x, (x._held * number.to_dense()).to(of_values((input, other))))
        return _common(input.coalesce(), other.coalesce())
    if not isinstance(other, Tensor) or other.ndim == 0:
        return mapped(input, (input._held * other).to(of_values((input, other))))
    x = broadcast_to(input, tenfold.broadcast_shapes(input.shape, other.shape))
    return mapped(x, x._held * other.expand(tuple(x.shape))[tuple(x._at)])


def _common(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The product of two coalesced tensors, whose dimensions without coordinates broadcast."""
    n = a.sparse_dim()
    sizes = a.shape[:n]
    if a.ndim != b.ndim or n != b.sparse_dim() or sizes != b.shape[:n]:
        raise RuntimeError(
            "mul: expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape of sparse dimensions, "
            f"got {list(a.shape)} with {n} and {list(b.shape)} with {b.sparse_dim()}"
        )
    size = tenfold.broadcast_shapes(a.shape, b.shape)
    mine, theirs = _keys(a._at, sizes), _keys(b._at, sizes)
    there = tenfold.searchsorted(theirs, mine).clamp_max(len(theirs) - 1) if len(theirs) else mine
    here = (theirs[there] == mine).nonzero().flatten() if len(theirs) else mine[:0]
    there = there[here]
    return SparseTensor.of(a._at[:, here], a._held[here] * b._held[there], size, coalesced=True)


@knows("div", "divide", "true_divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> SparseTensor:
    """Quotient by a number."""
    if isinstance(other, Tensor) and (other.ndim or isinstance(other, SparseTensor)):
        raise RuntimeError(
            f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {list(other.shape)} for divisor)"
        )
    x = input if rounding_mode is None else input.coalesce()
    return mapped(x, tenfold.div(x._held, other, rounding_mode=rounding_mode))


@knows("floor_divide")
def floor_divide(input: Any, other: Any) -> SparseTensor:
    """Quotient by a number, rounded down."""
    if isinstance(other, Tensor) and (other.ndim or isinstance(other, SparseTensor)):
        raise RuntimeError(
            f"Sparse floor division requires a scalar or zero-dim dense tensor divisor (got shape {list(other.shape)})"
        )
    x = input.coalesce()
    return mapped(x, tenfold.floor_divide(x._held, other))


@knows("any")
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element that is stored is not zero."""
    if dim is not None:
        raise NotImplementedError("any: a sparse tensor has the answer for all its elements only; call .to_dense() first")
    return input._held.any()  # type: ignore[no-any-return]


@knows("zeros_like", "empty_like")
def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    memory_format: Any = None,
    **_: Any,
) -> Any:
    """A tensor of the same sizes without elements, or in another layout."""
    kind = {"dtype": dtype or input.dtype, "device": device or input.device, "requires_grad": requires_grad}
    if layout is tenfold.strided:
        return tenfold.zeros(tuple(input.shape), **kind)
    if memory_format is not None:
        raise RuntimeError("zeros_like: memory format option is only supported by strided tensors")
    if layout not in (None, tenfold.sparse_coo):
        return SERVICES.without_elements(input.shape, layout, **kind)
    return SERVICES.without_elements(input.shape, tenfold.sparse_coo, sparse_dim=input.sparse_dim(), **kind)


@knows("zeros", "empty")
def zeros(
    size: Any, *, out: Any, dtype: Any = None, device: Any = None, layout: Any = None, requires_grad: bool = False, **_: Any
) -> Any:
    """A sparse `out` in this size, without elements."""
    if dtype not in (None, out.dtype):
        raise RuntimeError(f"zeros: dtype {type_name(dtype)} does not match dtype of out parameter ({type_name(out.dtype)})")
    made = SERVICES.without_elements(size, tenfold.sparse_coo, dtype=out.dtype, device=out.device, requires_grad=requires_grad)
    return out.become(made)


@knows("new_zeros", "new_empty")
def new_zeros(
    input: Any, *size: Any, dtype: Any = None, device: Any = None, layout: Any = None, requires_grad: bool = False, **_: Any
) -> Any:
    """A tensor of other sizes without elements."""
    sizes = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    kind = {"dtype": dtype or input.dtype, "device": device or input.device, "requires_grad": requires_grad}
    if layout is tenfold.strided:
        return tenfold.zeros(sizes, **kind)
    return SERVICES.without_elements(sizes, layout or tenfold.sparse_coo, **kind)


@knows("copy_")
def copy_(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """The elements of another tensor, in place."""
    if not isinstance(input, SparseTensor) or not isinstance(src, SparseTensor):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type and src type differ")
    if input.shape != src.shape:
        raise RuntimeError(f"copy_: a sparse tensor of {list(src.shape)} does not broadcast to {list(input.shape)}")
    return input._hold(src._at.clone(), src._held.to(input.dtype).clone(), src._is_summed)


@knows("zero_")
def zero_(input: Any) -> SparseTensor:
    """No elements, in place."""
    return input._hold(input._at[:, :0], input._held.detach()[:0], input.ndim > 0)  # type: ignore[no-any-return]


@knows("equal")
def equal(input: Any, other: Any) -> bool:
    """Whether the elements are equal."""
    a, b = input.coalesce(), other.coalesce()
    return a.shape == b.shape and tenfold.equal(a._at, b._at) and tenfold.equal(a._held, b._held)
