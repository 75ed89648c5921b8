"""`tenfold.fft`: discrete Fourier transforms under PyTorch's names, those of `torch.fft`."""

from __future__ import annotations

from tenfold.scientific.namespaces import functions

_FUNCTIONS = functions("fft")
globals().update(_FUNCTIONS, __all__=sorted(_FUNCTIONS))
