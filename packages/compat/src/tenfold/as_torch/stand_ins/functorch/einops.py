"""`functorch.einops`: `rearrange`, which `torch.func` has as well."""

from __future__ import annotations

import importlib

rearrange = importlib.import_module("tenfold.func").rearrange  # of tenfold-autograd, which this package does not need otherwise

__all__ = ["rearrange"]
