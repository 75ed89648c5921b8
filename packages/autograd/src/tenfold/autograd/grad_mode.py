"""PyTorch's `torch.autograd.grad_mode`: the switches for recording gradients."""

from __future__ import annotations

import threading

from tenfold.dispatch.gradmode import enable_grad, inference_mode, no_grad, set_grad_enabled


class _ThreadSetting(threading.local):
    multithreading = True


_SETTING = _ThreadSetting()


class set_multithreading_enabled:  # noqa: N801 - PyTorch's name
    """Whether a backward pass may use several threads. It uses one anyway; the setting is kept for those who ask."""

    def __init__(self, mode: bool) -> None:
        self.before, self.mode = _SETTING.multithreading, mode
        _SETTING.multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _SETTING.multithreading = self.before

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last told in this thread."""
    return _SETTING.multithreading


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]
