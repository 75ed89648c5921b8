"""PyTorch's older path of `tenfold.func.functional_call`."""

from __future__ import annotations

from tenfold.func import functional_call

__all__ = ["functional_call"]
