"""Which distribution has which sibling package: what an error names when it is not installed."""

from __future__ import annotations

PACKAGES = {
    "amp": "tenfold-autograd", "autograd": "tenfold-autograd", "func": "tenfold-autograd", "nn": "tenfold-nn",
    "optim": "tenfold-optim", "data": "tenfold-data", "scientific": "tenfold-scientific", "linalg": "tenfold-scientific",
    "fft": "tenfold-scientific", "special": "tenfold-scientific", "signal": "tenfold-scientific",
    "cuda": "tenfold-backend-cuda", "text": "tenfold-text", "vision": "tenfold-vision", "testing": "tenfold-testing",
}  # fmt: skip
