"""PyTorch's `torch.cuda._utils`, which programs take a helper from."""

from __future__ import annotations

from typing import Any

from tenfold.cuda.devices import current_device
from tenfold.dispatch.devices import device as device_type


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a GPU given as a number, a string or a device; that of the CPU, where it is allowed, is -1.

    Raises: ValueError for a device of another type, or None where `optional` does not make it the current GPU.
    """
    if isinstance(device, int):
        return device
    if device is None:
        if not optional:
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
        return current_device()
    found: Any = device_type(device)
    if found.type == "cpu" and allow_cpu:
        return -1
    if found.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {found}")
    if found.index is None:
        return _get_device_index(None, optional)
    return int(found.index)
