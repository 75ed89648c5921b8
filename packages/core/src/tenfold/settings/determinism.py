"""PyTorch's switch for deterministic algorithms; core's own kernels always are deterministic."""

from __future__ import annotations

import warnings

# What was asked for; `fill` is `utils.deterministic.fill_uninitialized_memory`.
STATE = {"on": False, "warn_only": False, "fill": True}


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` asked for them."""
    return STATE["on"]


def fills_memory() -> bool:
    """Whether uninitialised memory is filled with values that show."""
    return STATE["on"] and STATE["fill"]


def alert_not_deterministic(name: str) -> None:
    """Refuse, or warn of, an operator that has no deterministic form in PyTorch, where deterministic ones were asked for."""
    if not STATE["on"]:
        return
    text = f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'"
    if not STATE["warn_only"]:
        raise RuntimeError(f"{text}. Switch it off for this operation, or ask for warnings with warn_only=True.")
    warnings.warn(f"{text} with warn_only=True.", UserWarning, stacklevel=3)
