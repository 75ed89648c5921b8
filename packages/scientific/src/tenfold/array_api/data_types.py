"""Dtypes: their kinds, limits, and what the standard promotes them to."""

from __future__ import annotations

from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor

SIGNED = (tenfold.int8, tenfold.int16, tenfold.int32, tenfold.int64)
UNSIGNED = (tenfold.uint8, tenfold.uint16, tenfold.uint32, tenfold.uint64)
REAL = (tenfold.float32, tenfold.float64)
COMPLEX = (tenfold.complex64, tenfold.complex128)
KINDS: dict[str, tuple[Any, ...]] = {
    "bool": (tenfold.bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": REAL,
    "complex floating": COMPLEX,
    "numeric": SIGNED + UNSIGNED + REAL + COMPLEX,
}
HALF = (tenfold.float16, tenfold.bfloat16)  # beside the standard's


class FloatInfo(NamedTuple):
    """Limits of a floating-point dtype; of complex numbers those of their parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: Any


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The elements in another dtype."""
    if x.dtype.is_complex and not dtype.is_complex and dtype is not tenfold.bool:
        raise TypeError(f"astype: {x.dtype} has no real numbers to convert to {dtype}; take real(x) or abs(x)")
    return x.to(dtype=dtype, device=device, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype's numbers are promoted to another."""
    try:
        return promoted(from_.dtype if isinstance(from_, Tensor) else from_, to) is to
    except (TypeError, RuntimeError):  # those of PyTorch too, of bool and wide unsigned integers
        return False


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating-point dtype."""
    dtype = type.dtype if isinstance(type, Tensor) else type
    real = {tenfold.complex64: tenfold.float32, tenfold.complex128: tenfold.float64}.get(dtype, dtype)
    found = tenfold.finfo(real)
    return FloatInfo(found.bits, float(found.eps), float(found.max), float(found.min), float(found.smallest_normal), real)


def iinfo(type: Any, /) -> IntInfo:
    """Limits of an integer dtype."""
    dtype = type.dtype if isinstance(type, Tensor) else type
    found = tenfold.iinfo(dtype)
    return IntInfo(found.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, such as "integral", or one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        return bool(dtype == kind)
    if kind not in KINDS:
        raise ValueError(f"isdtype: unknown kind {kind!r}; there are {', '.join(KINDS)}")
    return dtype in KINDS[kind] or (dtype in HALF and kind in ("real floating", "numeric"))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that operators make of these."""
    dtypes = [x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes if isinstance(x, (Tensor, tenfold.dtype))]
    if not dtypes:
        raise ValueError("result_type: at least one array or dtype is required")
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = promoted(result, dtype)
    for number in arrays_and_dtypes:
        if isinstance(number, (bool, int, float, complex)):
            result = dtype_beside(number, result)
    return result


def promoted(a: Any, b: Any) -> Any:
    """The dtype of results of two; TypeError where the standard has none, as of uint64 and int64."""
    if a is b:
        return a
    for unsigned, signed in ((a, b), (b, a)):
        if unsigned in UNSIGNED and signed in SIGNED:
            wide = max(2 * unsigned.itemsize, signed.itemsize)
            if wide > 8:
                raise TypeError(f"{a} and {b} have no common dtype")
            return next(d for d in SIGNED if d.itemsize == wide)
    if a in UNSIGNED and b in UNSIGNED:
        return a if a.itemsize > b.itemsize else b
    return tenfold.promote_types(a, b)


def dtype_beside(number: Any, dtype: Any) -> Any:
    """The dtype of results of a Python number and an array: the array's, unless the number's kind is above it."""
    if isinstance(number, complex):
        return dtype if dtype.is_complex else tenfold.complex128 if dtype is tenfold.float64 else tenfold.complex64
    if isinstance(number, float) and not (dtype.is_floating_point or dtype.is_complex):
        return tenfold.get_default_dtype()
    if isinstance(number, int) and not isinstance(number, bool) and dtype is tenfold.bool:
        return tenfold.int64
    return dtype


def together(*values: Any) -> list[Any]:
    """Arrays and Python numbers as arrays of one dtype."""
    dtype = result_type(*values)
    device = next(x.device for x in values if isinstance(x, Tensor))
    return [
        x.to(dtype) if isinstance(x, Tensor) else tenfold.full((), x, dtype=dtype, device=device) for x in values
    ]  # fmt: skip
