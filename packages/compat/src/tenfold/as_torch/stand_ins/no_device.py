"""What the module of a kind of device answers where there is none: no device, nothing in use; seeds are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.as_torch.stand_ins.absent import functions

_FALSE = "is_available is_initialized is_bf16_supported _is_in_bad_fork"
_ZERO = "device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved current_allocated_memory"
_NOTHING = "empty_cache init manual_seed manual_seed_all seed seed_all synchronize reset_peak_memory_stats"
_REFUSED = (
    "Event Stream StreamContext current_device current_stream get_device_capability get_device_name get_device_properties "
    "get_rng_state mem_get_info set_device set_rng_state stream"
)


def answers(module: str, devices: str) -> dict[str, Callable[..., Any]]:
    """The functions of `torch.MODULE`.

    >>> answers("xpu", "Intel's GPUs")["is_available"]()
    False
    """
    found = {name: value for names, value in ((_FALSE, False), (_ZERO, 0), (_NOTHING, None)) for name in names.split()}
    lists = {name: _answer(name, []) for name in ("get_rng_state_all",)}
    return {
        **{name: _answer(name, value) for name, value in found.items()},
        **lists,
        **functions(_REFUSED, f"torch.{module}: there are none of {devices} here, and torch.{module}.is_available() is False"),
    }


def _answer(name: str, value: Any) -> Callable[..., Any]:
    def answer(*arguments: Any, **options: Any) -> Any:
        return value

    answer.__name__ = answer.__qualname__ = name
    answer.__doc__ = f"{value!r}: there is no such device."
    return answer
