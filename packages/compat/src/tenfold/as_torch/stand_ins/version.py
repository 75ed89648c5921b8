"""`torch.version`."""

from __future__ import annotations

import tenfold
from tenfold.as_torch.names import ROOTS
from tenfold.as_torch.stand_ins.torch_version import TorchVersion

__all__ = ["__version__", "debug", "cuda", "git_version", "hip", "xpu"]

__version__ = TorchVersion(ROOTS["torch"].version)
tenfold_version = tenfold.__version__
debug = False
git_version = "unknown"
hip = rocm = xpu = None
cuda = tenfold.version.cuda  # that of tenfold-backend-cuda's CuPy
