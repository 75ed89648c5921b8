"""`tenfold.data` under PyTorch's path `torch.utils.data`."""

from __future__ import annotations

import sys

import tenfold.data

sys.modules[__name__] = tenfold.data
