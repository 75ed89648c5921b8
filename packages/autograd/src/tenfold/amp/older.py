"""What older names of mixed precision say when they are used."""

from __future__ import annotations

import warnings


def warn_of_place(device: str, name: str) -> None:
    """FutureWarning that `torch.DEVICE.amp.NAME` is `torch.amp.NAME` with the device as an argument."""
    given = f"args..., device_type='{device}'" if name.startswith("custom") else f"'{device}', args..."
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}({given})` instead.",
        FutureWarning,
        stacklevel=3,
    )
