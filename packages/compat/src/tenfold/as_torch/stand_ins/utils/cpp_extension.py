"""`torch.utils.cpp_extension`: operators written in C++ for PyTorch's binaries are not compiled here; libraries ask first."""

from __future__ import annotations

import os

from tenfold.as_torch.stand_ins.absent import classes, functions

_WHY = "Tenfold compiles no operators written in C++ or CUDA for PyTorch's binaries; libraries' own Python runs"

CUDA_HOME = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = IS_WINDOWS = False


def is_ninja_available() -> bool:
    """False: nothing is compiled.

    >>> is_ninja_available()
    False
    """
    return False


globals().update(
    functions("CUDAExtension CppExtension include_paths library_paths load load_inline verify_ninja_availability", _WHY)
)
globals().update(classes("BuildExtension", _WHY))
