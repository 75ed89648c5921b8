"""The entry point of tenfold-optim: it brings classes, and no operators, kernels or gradients to register."""

from __future__ import annotations

TENFOLD_PLUGIN_API = 1
