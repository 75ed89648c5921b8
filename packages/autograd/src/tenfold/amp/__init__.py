"""Automatic mixed precision: `autocast` runs products in a half type and sensitive operators in float32."""

from __future__ import annotations

from tenfold.amp.autocast import autocast, is_autocast_available
from tenfold.amp.custom import custom_bwd, custom_fwd
from tenfold.amp.grad_scaler import (
    GradScaler,
    unscale_all_ as _amp_foreach_non_finite_check_and_unscale_,
    update_scale_ as _amp_update_scale_,
)

__all__ = [
    "GradScaler",
    "_amp_foreach_non_finite_check_and_unscale_",
    "_amp_update_scale_",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]
