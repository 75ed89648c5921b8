"""`torch.cuda.amp.common`: whether mixed precision can be used on a GPU."""

from __future__ import annotations

from tenfold.amp.autocast import is_autocast_available
from tenfold.dispatch.services import SERVICES

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no device for it, or no package that knows such devices.

    >>> amp_definitely_not_available() or is_autocast_available("cuda")
    True
    """
    return not (is_autocast_available("cuda") and SERVICES.backend_of("cuda").is_available())
