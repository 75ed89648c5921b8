"""`tenfold.data` under PyTorch's path `torch.utils.data`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import tenfold.data

if TYPE_CHECKING:
    from tenfold.data import *  # noqa: F403 - it is the same module under another name

sys.modules[__name__] = tenfold.data
