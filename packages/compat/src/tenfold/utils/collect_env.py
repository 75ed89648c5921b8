"""`torch.utils.collect_env`: what a report of a fault says of the machine, `python -m torch.utils.collect_env`."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple

import tenfold
from tenfold.as_torch.stand_ins.version import __version__
from tenfold.inspection.doctor import report

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]


class SystemEnv(NamedTuple):
    """What programs ask of it one by one, by PyTorch's names."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    python_version: str
    python_platform: str
    os: str
    is_cuda_available: str
    nvidia_gpu_models: str | None


def get_env_info() -> SystemEnv:
    """The versions, the machine and its GPUs.

    >>> get_env_info().is_debug_build
    'False'
    """
    there = tenfold.cuda.is_available()
    names = [f"GPU {i}: {tenfold.cuda.get_device_name(i)}" for i in range(tenfold.cuda.device_count())] if there else []
    return SystemEnv(
        torch_version=str(__version__),
        is_debug_build="False",
        cuda_compiled_version=tenfold.version.cuda or "None",
        python_version=f"{platform.python_version()} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        os=f"{platform.system()} {platform.release()} ({platform.machine()})",
        is_cuda_available=str(there),
        nvidia_gpu_models="\n".join(names) or None,
    )


def get_pretty_env_info() -> str:
    """The same as a text for people, with what `python -m tenfold doctor` says."""
    found = get_env_info()
    lines = {
        "PyTorch version": f"{found.torch_version} (Tenfold {tenfold.__version__})",
        "CUDA used to build PyTorch": found.cuda_compiled_version,
        "OS": found.os,
        "Python version": found.python_version,
        "Python platform": found.python_platform,
        "Is CUDA available": found.is_cuda_available,
        "GPU models and configuration": found.nvidia_gpu_models or "No CUDA",
    }
    return "\n".join([*(f"{name}: {value}" for name, value in lines.items()), "", report()[0]])


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
