"""Quasi-random numbers under PyTorch's names, those of `torch.quasirandom`."""

from __future__ import annotations

from tenfold.scientific.sobol import SobolEngine

__all__ = ["SobolEngine"]
