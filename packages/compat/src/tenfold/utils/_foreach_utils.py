"""What optimizers outside PyTorch ask before they work on lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import Tensor, device

Lists = Sequence[Sequence[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Device types whose optimizers take lists by default."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Device types that have fused optimizers."""
    return ["cpu", "cuda"]


def _device_has_foreach_support(device: device) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors: Sequence[Tensor], device: device) -> bool:
    return _device_has_foreach_support(device)


def _group_tensors_by_device_and_dtype(tensorlistlist: Lists, with_indices: bool = False) -> dict[Any, Any]:
    """{(device, dtype): (lists, indices)}: lists of equal length, parted alike by the tensors of the first.

    >>> import tenfold
    >>> groups = _group_tensors_by_device_and_dtype([[tenfold.ones(1), tenfold.ones(1).long(), tenfold.zeros(1)]], True)
    >>> [indices for _, indices in groups.values()]
    [[0, 2], [1]]
    """
    groups: dict[Any, Any] = {}
    for i, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise RuntimeError("_group_tensors_by_device_and_dtype: the first list must have no None")
        lists, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        indices.append(i)
        for column, given in zip(lists, tensorlistlist, strict=True):
            if given:  # a list may be empty, and is in every group
                column.append(given[i])
    return groups if with_indices else {key: (lists, []) for key, (lists, _) in groups.items()}
