"""`tenfold.functional`: the functions that PyTorch also has under `torch.functional`."""

from __future__ import annotations

from typing import Any

import tenfold

_NAMES = [
    "align_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft",
    "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index",
]  # fmt: skip


__all__ = [name for name in _NAMES if name != "align_tensors"]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(tenfold, name)
    if name == "F":  # PyTorch's module has its layers' functions under this name, and programs use it
        return tenfold.nn.functional
    raise AttributeError(f"module 'tenfold.functional' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_NAMES)
