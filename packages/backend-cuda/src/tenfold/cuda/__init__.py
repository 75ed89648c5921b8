"""The device "cuda": GPUs, streams, memory. PyTorch's `torch.cuda`; nothing is imported from CuPy or Triton until it is used."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.cuda.devices import (
    current_device,
    device,
    device_count,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    set_device,
    synchronize,
    unavailable_reason,
)
from tenfold.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from tenfold.cuda.seeding import initial_seed, manual_seed, manual_seed_all, seed, seed_all
from tenfold.cuda.streams import Event, Stream, current_stream, default_stream, stream
from tenfold.types.errors import AcceleratorError, OutOfMemoryError

__all__ = [
    "AcceleratorError", "Event", "OutOfMemoryError", "Stream", "current_device", "current_stream", "default_stream",
    "device", "device_count", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties",
    "initial_seed", "is_available", "is_bf16_supported", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "mem_get_info", "memory_allocated", "memory_reserved", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "stream", "synchronize", "unavailable_reason",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "amp":  # of the package tenfold-autograd
        return importlib.import_module("tenfold.amp.cuda")
    if name.endswith("Tensor"):
        from tenfold.cuda.typed_tensors import TYPED  # late: the classes are made when asked for

        if name in TYPED:
            return TYPED[name]
    raise AttributeError(f"module 'tenfold.cuda' has no attribute {name!r}")
