"""How exactly products of float32 are computed: in TensorFloat-32 only where PyTorch's switches allow it.

The switches are `backends.cuda.matmul.allow_tf32` or `set_float32_matmul_precision` for products of matrices, and
`backends.cudnn.allow_tf32` for convolutions, which alone is on at first, as in PyTorch.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

F32 = np.dtype(np.float32)
CONVOLUTIONS = True  # what backends.cudnn.allow_tf32 is at first


def _module(name: str) -> Any:
    """A module of switches if it is loaded; nobody has set any in one that is not."""
    return sys.modules.get(name)


def products_in_tf32() -> bool:
    """Whether products of float32 matrices may round their factors to 10 bits."""
    switches, levels = _module("tenfold.backends.cuda"), _module("tenfold.inspection.precision")
    if switches is not None and switches.matmul.allow_tf32:
        return True
    return levels is not None and levels.get_float32_matmul_precision() != "highest"


def convolution_precision(dtype: Any) -> str:
    """Triton's name of the precision of a convolution's products."""
    switches = _module("tenfold.backends.cudnn")
    allowed = CONVOLUTIONS if switches is None else switches.allow_tf32
    return "tf32" if dtype == F32 and allowed else "ieee"
