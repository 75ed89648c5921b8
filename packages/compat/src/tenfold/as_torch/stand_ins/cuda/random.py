"""`torch.cuda.random`: the seeds and states of the devices' generators, which `torch.cuda` has, too."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [  # noqa: F822 - found by __getattr__
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("torch.cuda"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
