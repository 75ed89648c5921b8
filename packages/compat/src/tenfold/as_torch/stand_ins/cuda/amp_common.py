"""`torch.cuda.amp.common`: whether mixed precision can be used on a GPU."""

from __future__ import annotations

import tenfold

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no device for it.

    >>> amp_definitely_not_available() == (not tenfold.cuda.is_available())
    True
    """
    return not tenfold.cuda.is_available()
