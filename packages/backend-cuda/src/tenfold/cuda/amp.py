"""PyTorch's older place of mixed precision, `from torch.cuda.amp import autocast`: the package tenfold-autograd has it."""

from __future__ import annotations

from tenfold.amp.cuda import GradScaler, autocast, common, custom_bwd, custom_fwd

__all__ = ["GradScaler", "autocast", "common", "custom_bwd", "custom_fwd"]
