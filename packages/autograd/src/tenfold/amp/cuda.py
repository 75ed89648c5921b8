"""`torch.cuda.amp`: `torch.amp` for CUDA devices, as it was called before there were others; each use says so."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.amp import common, custom, grad_scaler
from tenfold.amp.autocast import autocast as _autocast
from tenfold.amp.older import warn_of_place

__all__ = ["GradScaler", "autocast", "common", "custom_bwd", "custom_fwd"]


class autocast(_autocast):  # noqa: N801 - PyTorch's name
    """`torch.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        warn_of_place("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """`torch.amp.GradScaler("cuda", ...)`."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_place("cuda", "GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`torch.amp.custom_fwd` for CUDA devices."""
    warn_of_place("cuda", "custom_fwd")
    return functools.partial(custom.custom_fwd, device_type="cuda")(fwd, **options)


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.amp.custom_bwd` for CUDA devices."""
    warn_of_place("cuda", "custom_bwd")
    return custom.custom_bwd(bwd, device_type="cuda")  # type: ignore[no-any-return]
