"""What `tenfold.cuda` is while tenfold-backend-cuda is not installed: there is no device, and all else names the package."""

from typing import TYPE_CHECKING, Any

from tenfold.dispatch import devices

AcceleratorError, OutOfMemoryError = devices.AcceleratorError, devices.OutOfMemoryError


def is_available() -> bool:
    """False: the package for CUDA devices is not installed.

    >>> from tenfold.plugins import no_cuda
    >>> no_cuda.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False, as nothing can be initialised."""
    return False


def device_count() -> int:
    """The number of devices: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the devices' generators; there are none."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Free cached memory; there is none."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise AttributeError(f"tenfold.cuda.{name} is in the package tenfold-backend-cuda: pip install tenfold-backend-cuda")
