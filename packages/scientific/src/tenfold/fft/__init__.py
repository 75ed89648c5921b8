"""`tenfold.fft`: discrete Fourier transforms under PyTorch's names, those of `torch.fft`."""

from __future__ import annotations

from tenfold.scientific.namespaces import functions

globals().update(functions("fft"))
