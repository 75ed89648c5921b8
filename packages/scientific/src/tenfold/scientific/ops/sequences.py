"""Sequences by factors, ranges with their end, powers of a vector, choices of elements, matrices along a diagonal, places of
triangles.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.ops.creation.factories import place
from tenfold.ops.creation.sequences import number_of, numbers, require_order, spaced, spaced_dtype
from tenfold.ops.view.forms import tensors_of
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import get_default_dtype
from tenfold.types.promotion import of_values

Ints = Sequence[int]


@composite("sequences", method=None, out="filled")
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers from base ** start to base ** end whose logarithms have equal distances.

    >>> import tenfold
    >>> tenfold.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    start, end = number_of(start), number_of(end)
    dtype = spaced_dtype("logspace", start, end, dtype)
    with np.errstate(all="ignore"):
        exponents = spaced(start, end, steps, dtype, device)
        array = np.power(base, exponents * (1 + 0j) if dtype.is_complex else exponents)  # powers of negative bases, too
        return place(array.astype(dtype.numpy), device, requires_grad)


@composite("sequences", method=None, out="filled", name="range")
def _range(
    start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from start up to end, which is included; deprecated: `arange` is what Python's `range` is.

    >>> import tenfold, warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     tenfold.range(1, 4).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    if end is None:
        start, end = 0, start
    start, end, step = number_of(start), number_of(end), number_of(step)
    if step == 0:
        raise RuntimeError("range: step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"range: unsupported range: {start} -> {end}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError(f"range: upper bound and lower bound inconsistent with step sign: {start}, {end}, {step}")
    dtype = dtype or get_default_dtype()
    require_order("range", dtype)
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's "
        "range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    array = start + numbers(dtype, device, 0, math.floor((end - start) / step) + 1) * step
    return place(array.astype(dtype.numpy), device, requires_grad)


@composite("sequences", method=None)
def cartesian_prod(tensors: Ints) -> Tensor:
    """Every combination of elements of the vectors, one in a row.

    >>> import tenfold
    >>> tenfold.cartesian_prod(tenfold.arange(2), tenfold.arange(2)).shape
    tenfold.Size([4, 2])
    """
    vectors = tensors_of(tensors)
    if has_torch_function(vectors):
        return handle_torch_function(cartesian_prod, vectors, *vectors)
    for t in vectors:
        if t.dim() != 1:
            raise RuntimeError(f"cartesian_prod: Expect a 1D vector, but got shape {list(t.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    return op.stack([g.reshape(-1) for g in meshgrid(vectors, indexing="ij")], 1)


@composite("sequences", method=None)
def block_diag(tensors: Ints = ()) -> Tensor:
    """Matrices (or vectors as rows, numbers) along the diagonal of one matrix, zeros elsewhere.

    >>> import tenfold
    >>> tenfold.block_diag(tenfold.ones(1, 2), tenfold.ones(1, 1)).shape
    tenfold.Size([2, 3])
    """
    blocks = tensors_of(tensors)
    if has_torch_function(blocks):
        return handle_torch_function(block_diag, blocks, *blocks)
    for i, t in enumerate(blocks):
        if t.device != blocks[0].device:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. "
                f"Input 0 is on device {blocks[0].device} and input {i} is on device {t.device}."
            )
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()} dimensions"
            )
    if not blocks:
        return op.zeros((1, 0))
    dtype = of_values(blocks)
    matrices = [t.to(dtype).reshape([1] * (2 - t.dim()) + list(t.shape)) for t in blocks]
    width = sum(m.shape[1] for m in matrices)
    rows, done = [], 0
    for m in matrices:
        before, after = m.new_zeros(m.shape[0], done), m.new_zeros(m.shape[0], width - done - m.shape[1])
        rows.append(op.cat([before, m, after], 1))
        done += m.shape[1]
    return op.cat(rows, 0)


@composite("sequences", method=None)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of a vector as columns, from N - 1 down to 0, or up when increasing. Shape: (M) -> (M, N).

    >>> import tenfold
    >>> tenfold.vander(tenfold.tensor([1, 2]), 3, increasing=True)
    tensor([[1, 1, 1],
            [1, 2, 4]])
    """
    if x.dim() != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got {x.dim()} dimensions")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {count}")
    first = op.ones_like(x).unsqueeze(-1).to(dtypes.int64 if x.dtype.category < 1 else x.dtype)
    if count < 2:  # without a gradient, for x does not enter
        return first.new_ones(x.shape[0], count)
    powers = op.cat([first, x.unsqueeze(-1).expand(x.shape[0], count - 1).to(first.dtype)], -1).cumprod(-1)
    return powers if increasing else powers.flip(-1)


@composite("sequences")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, in the order of their positions. Shape: (N) -> (count, r).

    >>> import tenfold
    >>> tenfold.combinations(tenfold.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if input.dim() != 1:
        raise RuntimeError(f"combinations: Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.size(0)), r)), np.int64).reshape(-1, r)
    return op.index(input, [place(chosen, input.device)])


def _require_counts(row: int, col: int) -> None:
    for name, count in (("row", row), ("col", col)):
        if count < 0:
            raise RuntimeError(f"{name} must be non-negative, got {count}")


@composite("sequences", method=None)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False
) -> Tensor:
    """Rows and columns of the lower triangle of a (row, col) matrix. Shape: (2, number of elements).

    >>> import tenfold
    >>> tenfold.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    _require_counts(row, col)
    return place(np.stack(np.tril_indices(row, offset, col)).astype((dtype or dtypes.int64).numpy), device)


@composite("sequences", method=None)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None, pin_memory: bool = False
) -> Tensor:
    """Rows and columns of the upper triangle of a (row, col) matrix. Shape: (2, number of elements).

    >>> import tenfold
    >>> tenfold.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    _require_counts(row, col)
    return place(np.stack(np.triu_indices(row, offset, col)).astype((dtype or dtypes.int64).numpy), device)


@composite("sequences", method=None)
def meshgrid(tensors: Ints = (), indexing: str | None = None) -> tuple[Any, ...]:
    """The coordinates of a grid over vectors: result i varies along dimension i ("ij"), or x and y swapped ("xy").

    >>> import tenfold
    >>> tenfold.meshgrid(tenfold.arange(2), tenfold.arange(3), indexing="ij")[0].shape
    tenfold.Size([2, 3])
    """
    given = tensors_of(tensors)
    if has_torch_function(given):
        return handle_torch_function(meshgrid, given, *given, indexing=indexing)
    if indexing is None:
        warn_once("meshgrid", "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", 3)
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    axes = [t.reshape(-1) if t.dim() < 2 else t for t in given]
    if not axes:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in axes:
        if t.dim() > 1:
            raise RuntimeError(
                f"meshgrid: Expected 0D or 1D tensor in the tensor list but got: a tensor of shape {list(t.shape)}"
            )
        if t.dtype is not axes[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t.device is not axes[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    swap = indexing == "xy" and len(axes) > 1
    if swap:
        axes[0], axes[1] = axes[1], axes[0]
    shape = [t.numel() for t in axes]
    grids = [t.view([-1 if i == d else 1 for i in range(len(axes))]).expand(shape) for d, t in enumerate(axes)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)
