"""Filling and overwriting: `fill_`, `zero_`, `copy_` and masked filling."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.inplace import check_memory
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Number, composite
from tenfold.dispatch.shape_rules import broadcast
from tenfold.ops.creation.factories import scalar_tensor
from tenfold.ops.creation.like import full_like
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import complex128, float64, int64
from tenfold.types.numbers import require_value


@composite("pointwise", method=None, inplace="method", mixed=True)
def copy(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """The elements of `src`, broadcast to the shape of `input` and converted to its dtype and device.

    >>> import tenfold
    >>> tenfold.zeros(2).copy_(tenfold.tensor([1, 2]))
    tensor([1., 2.])
    """
    return src.to(input, non_blocking=non_blocking and input.is_cuda).expand(input.shape)


@copy.rule
def _(input: Any, src: Any, non_blocking: bool) -> Meta:
    if broadcast("copy_", input, src) != input.shape:
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(src.shape)}")
    return Meta(input.shape, input.dtype, input.strides)


@composite("pointwise", method=None, inplace="method", mixed=True)
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """One value everywhere, in the shape and dtype of `input`.

    >>> import tenfold
    >>> tenfold.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        if value.device is not input.device:
            return fill(input, value.to(input.device))
        return copy(input, value)
    return full_like(input, value)


@fill.overload
def _(input: Any, value: Any) -> Any:
    """Refuse a number that does not fit."""
    if isinstance(value, (int, float, complex)) and isinstance(input, Tensor):
        require_value(value, input.dtype)
    return NotImplemented


def _copy_number(input: Any, src: Any, non_blocking: bool) -> Any:
    """`copy_` of a number fills, as a tensor of it does: it need not fit."""
    if not isinstance(src, (int, float, complex)):
        return NotImplemented
    if input._storage is not None and input._storage.guarded:
        check_memory(input)
    wide = complex128 if isinstance(src, complex) else float64 if isinstance(src, float) else int64
    return OPERATORS["fill_"].fn(input, scalar_tensor(src, dtype=wide))


OPERATORS["copy_"].overload_body = _copy_number


@composite("pointwise", method=None, inplace="method")
def zero(input: Tensor) -> Tensor:
    """Zero everywhere, in the shape and dtype of `input`.

    >>> import tenfold
    >>> tenfold.ones(2).zero_()
    tensor([0., 0.])
    """
    return fill(input, 0)


def only_value(value: Tensor, other: Tensor) -> Tensor:
    """A copy of one element as an element of another tensor; RuntimeError when it does not fit."""
    key = value._key
    if key.level is None and key.device.type != "meta":
        require_value(value.item(), other.dtype)
    return value.to(other, copy=True)


@composite("pointwise", inplace=True, mixed=True)
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """`value` where the mask is true, `input` elsewhere, in the dtype of `input`; the shapes broadcast.

    >>> import tenfold
    >>> tenfold.masked_fill(tenfold.tensor([1.0, 2.0]), tenfold.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    if mask.dtype.category != 0:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
            )
        return input.where(~mask, only_value(value, input)).contiguous()
    require_value(value, input.dtype)
    if isinstance(value, complex) and input.dtype.category in (1, 2):
        value = value.real
    kind: Any = (bool, int, float, complex)[input.dtype.category]
    return input.where(~mask, kind(value)).contiguous()
