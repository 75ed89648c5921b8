"""Products of vectors along a dimension: the cross product and the inner product."""

from __future__ import annotations

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import broadcast_shapes, wrap_dim
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name


@composite("linalg", method=None, out="same")
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Vector product in three dimensions along `dim`, batches broadcast.

    >>> import tenfold
    >>> tenfold.linalg_cross(tenfold.tensor([1, 0, 0]), tenfold.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    if input.dim() != other.dim():
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}")
    if input.dim() == 0:
        raise IndexError(f"linalg.cross: Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, input.dim(), "linalg.cross")
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {list(input.shape)} and {list(other.shape)}"
        )
    broadcast_shapes("linalg.cross", [input.shape, other.shape])
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"linalg.cross: expected scalar type {type_name(input.dtype)} but found {type_name(other.dtype)}; convert one of them"
        )
    a, b = input.unbind(d), other.unbind(d)
    return op.stack([a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))], d)


@composite("linalg", out="same")
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Vector product along `dim`, by default the first dimension of size 3.

    >>> import tenfold
    >>> tenfold.cross(tenfold.tensor([1, 0, 0]), tenfold.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    if dim is None:
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError(f"cross: no dimension of size 3 in input, got shape {list(input.shape)}")
        warn_once(
            "cross",
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass the dim explicitly or use "
            "torch.linalg.cross, whose default is the last dimension.",
        )
    return linalg_cross(input, other, dim=dim)


_FLOATING = Only(
    "floating complex", RuntimeError, "linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtype}"
)


@composite("linalg", accepts=_FLOATING, method=None, out="same")
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Inner products along `dim`, x conjugated, batches broadcast.

    >>> import tenfold
    >>> tenfold.linalg_vecdot(tenfold.tensor([1.0, 2.0]), tenfold.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if x.dtype is not y.dtype:
        raise RuntimeError(f"linalg.vecdot: Expected vectors of the same dtype, got {x.dtype.name} and {y.dtype.name}")
    return ((x.conj() if x.dtype.is_complex else x) * y).sum(dim).to(x.dtype)
