"""What the Fourier transforms ask of their arguments: dimensions, sizes, scaling, and the dtypes they compute in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.operators import op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.types import dtypes

# What a transform divides by: nothing, the root of the number of points, or that number.
FORWARD = {None: "none", "backward": "none", "ortho": "root", "forward": "count"}
BACKWARD = {None: "count", "backward": "count", "ortho": "root", "forward": "none"}
_LEGACY = {dtypes.float16: "Half", dtypes.bfloat16: "BFloat16", dtypes.complex64: "ComplexFloat"}


def scaling(name: str, norm: str | None, forward: bool) -> str:
    """What a transform divides by under this norm."""
    table = FORWARD if forward else BACKWARD
    if norm not in table:
        raise RuntimeError(f'{name}: Invalid normalization mode: "{norm}"')
    return table[norm]


def floating(name: str, x: Any) -> Any:
    """Integers as the default dtype; half precision has no transform on the CPU."""
    if x.dtype.category < 2:
        return x.to(dtypes.get_default_dtype())
    if x.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Unsupported dtype {_LEGACY.get(x.dtype, x.dtype.name)}: convert with .float()")
    return x


def real(name: str, x: Any, kind: str = "real") -> Any:
    """A real tensor of a floating dtype."""
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} expects a {kind} input tensor, but got {_LEGACY.get(x.dtype, 'ComplexDouble')}")
    return floating(name, x)


def complex_of(name: str, x: Any) -> Any:
    """A complex tensor."""
    x = floating(name, x)
    return x if x.dtype.is_complex else op.complex(x, op.zeros_like(x))


def one_dim(name: str, x: Any, dim: int) -> int:
    """A dimension counted from the front; a scalar has none."""
    if not x.dim():
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.dim(), name)


def points(name: str, n: int) -> int:
    """A number of points, at least one."""
    if n < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({n}) specified")
    return n


def dims_and_sizes(name: str, x: Any, s: Any, dim: Any) -> tuple[list[int], list[int | None]]:
    """The dimensions to transform, counted from the front, and the sizes asked for, None where it is the tensor's own."""
    s, dim = (v if v is None or hasattr(v, "__iter__") else (v,) for v in (s, dim))
    dims = list(range(x.dim())) if dim is None else [one_dim(name, x, d) for d in dim]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"{name}: FFT dims must be unique")
    if s is None:
        return dims, [None] * len(dims)
    if dim is not None and len(dim) != len(s):
        raise RuntimeError(f"{name}: When given, dim and shape arguments must have the same length")
    if len(s) > x.dim():
        raise RuntimeError(f"{name}: Got shape with {len(s)} values but input tensor only has {x.dim()} dimensions.")
    return dims[len(dims) - len(s) :], [None if n == -1 else n for n in s]


def resized(name: str, x: Any, dims: Sequence[int], sizes: Sequence[int | None]) -> Any:
    """The tensor cut, or filled up with zeros, to these sizes; dimensions without one stay."""
    for d, size in zip(dims, sizes, strict=True):
        n = points(name, x.shape[d] if size is None else size)
        if n < x.shape[d]:
            x = x.narrow(d, 0, n)
        elif n > x.shape[d]:
            x = op.cat([x, x.new_zeros([*x.shape[:d], n - x.shape[d], *x.shape[d + 1 :]])], d)
    return x
