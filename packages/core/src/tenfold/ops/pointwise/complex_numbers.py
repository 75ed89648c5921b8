"""Complex numbers: parts, conjugates, angles, and their memory read as pairs of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.inplace import check_writable, write_back
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import broadcast, pointwise
from tenfold.tensor.tensor import Tensor
from tenfold.types.narrow import RECORD, announce

_PAIR = {np.dtype(a): np.dtype(b) for a, b in ((RECORD, "f2"), ("c8", "f4"), ("c16", "f8"))}
_PAIR |= {b: a for a, b in _PAIR.items()}


def _counterpart(dtype: Any) -> Any:
    """The real type of a complex one's parts, and the reverse."""
    found = _PAIR.get(dtype)
    if found is None:
        raise RuntimeError(f"expected a float16, float32, float64 or complex tensor, got {dtype}")
    if RECORD in (dtype, found):
        announce()
    return found


@primitive("pointwise", accepts="complex", view=True, method=None, name="real_part")
def _real_part(input: Tensor) -> Tensor:
    """The real parts of a complex tensor, in its memory: what `real` runs.

    >>> import tenfold
    >>> tenfold.op.real_part(tenfold.tensor([1 + 2j]))
    tensor([1.])
    """


@_real_part.rule
def _(input: Any) -> Meta:
    return Meta(input.shape, _counterpart(input.dtype), input.strides)


@primitive("pointwise", accepts="complex", view=True, method=None, name="imag_part")
def _imag_part(input: Tensor) -> Tensor:
    """The imaginary parts of a complex tensor, in its memory: what `imag` runs.

    >>> import tenfold
    >>> tenfold.op.imag_part(tenfold.tensor([1 + 2j]))
    tensor([2.])
    """


@_imag_part.rule
def _(input: Any) -> Meta:
    real = _counterpart(input.dtype)
    return Meta(input.shape, real, input.strides, real.itemsize)


@composite("pointwise", method=None)
def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor is its own.

    >>> import tenfold
    >>> tenfold.real(tenfold.tensor([1 + 2j]))
    tensor([1.])
    """
    return _real_part(input) if input.dtype.is_complex else input


@composite(
    "pointwise",
    accepts=Only("complex", RuntimeError, "{name} is not implemented for tensors with non-complex dtypes."),
    method=None,
)
def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view.

    >>> import tenfold
    >>> tenfold.imag(tenfold.tensor([1 + 2j]))
    tensor([2.])
    """
    return _imag_part(input)


def _property(function: Any) -> property:
    return property(function, lambda self, value: function(self).copy_(value), doc=function.__doc__)


Tensor.real = _property(real)  # type: ignore[method-assign, assignment]
Tensor.imag = _property(imag)  # type: ignore[method-assign, assignment]


@primitive("pointwise", view=True, method=None)
def view_as_real(input: Tensor) -> Tensor:
    """The memory of a complex tensor as pairs of real numbers. Shape: (...) -> (..., 2).

    >>> import tenfold
    >>> tenfold.view_as_real(tenfold.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """


@view_as_real.rule
def _(input: Any) -> Meta:
    if input.dtype.kind != "c" and input.dtype != RECORD:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    real = _counterpart(input.dtype)
    return Meta((*input.shape, 2), real, (*input.strides, real.itemsize))


@primitive("pointwise", view=True, method=None)
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers read as complex ones, without a copy. Shape: (..., 2) -> (...).

    >>> import tenfold
    >>> tenfold.view_as_complex(tenfold.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """


@view_as_complex.rule
def _(input: Any) -> Meta:
    size = input.dtype.itemsize
    if input.dtype.kind != "f":
        raise RuntimeError(f"view_as_complex is only supported for floating point tensors, got {input.dtype}")
    if not input.shape:
        raise RuntimeError("view_as_complex: Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError(f"view_as_complex: Tensor must have a last dimension of size 2, got shape {list(input.shape)}")
    if 0 in input.shape:
        return Meta(input.shape[:-1], _counterpart(input.dtype))
    if input.strides[-1] != size:
        raise RuntimeError("view_as_complex: Tensor must have a last dimension with stride 1")
    strides = [s - s % (2 * size) * (n == 1) for n, s in zip(input.shape, input.strides[:-1])]
    if any(s % (2 * size) for s in strides):
        raise RuntimeError("view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension")
    return Meta(input.shape[:-1], _counterpart(input.dtype), strides)


@primitive("pointwise", accepts="complex", inplace=True, out=True, rule=pointwise, returns_argument=True)
def conj_physical(input: Tensor) -> Tensor:
    """Complex conjugate, in new memory; a real tensor is its own.

    >>> import tenfold
    >>> tenfold.conj_physical(tenfold.tensor([1 + 2j]))
    tensor([1.-2.j])
    """


@conj_physical.overload
def _(input: Any, out: Any = None) -> Any:
    return input if out is None and hasattr(input, "_array") and not input.dtype.is_complex else NotImplemented


@OPERATORS["conj_physical_"].overload
def _(input: Any) -> Any:
    if not hasattr(input, "_array") or input.dtype.is_complex:
        return NotImplemented
    check_writable("conj_physical_", input, may_repeat=True)
    return write_back("conj_physical_", input, input.clone())


@composite("pointwise")
def conj(input: Tensor) -> Tensor:
    """Complex conjugate; a real tensor is its own.

    Differs from PyTorch: of a complex tensor it is a new tensor and not a lazy view.

    >>> import tenfold
    >>> tenfold.conj(tenfold.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return conj_physical(input) if input.dtype.is_complex else input


@composite("pointwise")
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates are never pending.

    >>> import tenfold
    >>> tenfold.resolve_conj(tenfold.tensor([1.0]))
    tensor([1.])
    """
    return input


@composite("pointwise")
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never pending.

    >>> import tenfold
    >>> tenfold.resolve_neg(tenfold.tensor([1.0]))
    tensor([1.])
    """
    return input


@primitive("pointwise", promote="float", out=True)
def angle(input: Tensor) -> Tensor:
    """The angle of a complex number, in radians; of a real number 0, or pi below 0.

    >>> import tenfold
    >>> tenfold.angle(tenfold.tensor([1j, -1 + 0j]))
    tensor([1.5708, 3.1416])
    """


@angle.rule
def _(input: Any) -> Meta:
    return Meta(input.shape, _counterpart(input.dtype) if input.dtype.kind == "c" else input.dtype)


@primitive(
    "pointwise",
    accepts=Only(
        "float16 float32 float64",
        RuntimeError,
        "{name}: Expected both inputs to be Half, Float or Double tensors but got {dtype}",
    ),
    promote="same",
    method=None,
    out=True,
)
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of given parts, float16, float32 or float64.

    >>> import tenfold
    >>> tenfold.complex(tenfold.tensor([1.0]), tenfold.tensor([2.0]))
    tensor([1.+2.j])
    """


@complex.rule
def _(real: Any, imag: Any) -> Meta:
    if real.dtype != imag.dtype:
        raise RuntimeError(f"complex: Expected object of scalar type {real.dtype} but got scalar type {imag.dtype}")
    return Meta(broadcast("complex", real, imag), _counterpart(real.dtype))
