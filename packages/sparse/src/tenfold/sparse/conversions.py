"""Which sparse layouts convert into which, and what may be asked for besides: PyTorch's refusals in one place."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.tensor.layouts import layout_name

_BLOCKS = (tenfold.sparse_bsr, tenfold.sparse_bsc)


def check_conversion(
    input: Any, target: Any, *, sparse_dim: int | None = None, blocksize: Any = None, dense_dim: int | None = None
) -> None:
    """RuntimeError for a conversion of one layout to another that is not supported, or not with these arguments.

    Args:
        input: a tensor of any layout; its blocks, batches and dense dimensions count.
        target: the layout that is asked for.
    """
    reason = _of_arguments(input, target, sparse_dim, blocksize, dense_dim) or _of_blocks(input, target, blocksize)
    if reason is not None:
        pair = f"conversion from {layout_name(input.layout)} to {layout_name(target)}"
        raise RuntimeError(f"to_sparse: {pair} {reason} is not supported: use to_dense(), then the conversion from there")


def _of_arguments(input: Any, target: Any, sparse_dim: int | None, blocksize: Any, dense_dim: int | None) -> str | None:
    if blocksize is not None and target not in _BLOCKS:
        return "with blocksize argument given"
    if input.layout is tenfold.strided:
        return None
    if dense_dim is not None:
        return "with dense_dim argument given"
    if sparse_dim is not None and sparse_dim != input.sparse_dim():
        return "with sparse_dim argument !=self.sparse_dim()"
    if input.layout is tenfold.sparse_coo and target is not tenfold.sparse_coo and input.sparse_dim() != 2:
        return "for input tensors with sparse_dim()!=2"
    return None


def _of_blocks(input: Any, target: Any, blocksize: Any) -> str | None:
    """What blocks, or matrices in a batch, do not become."""
    if input.layout in _BLOCKS:
        if target in (tenfold.sparse_csr, tenfold.sparse_csc):
            return "of blocks"
        if target in _BLOCKS and blocksize is None:
            return "without blocksize argument given"
        asked = (blocksize, blocksize) if isinstance(blocksize, int) else blocksize
        if target in _BLOCKS and tuple(asked) != input.blocksize:
            return f"with blocksize changed from {list(input.blocksize)} to {list(asked)}"
    elif target in _BLOCKS and hasattr(input, "batch") and input.ndim - input.dense_dim() > 2:
        return "for batched inputs"
    return None
