"""Seeds. Random tensors are drawn from Tenfold's one default generator and copied, so that a seed means the same on every
device; these functions seed that generator, and do nothing on a machine without a GPU, as PyTorch's do."""

from __future__ import annotations

from tenfold.cuda.devices import is_available
from tenfold.random import generator


def manual_seed(seed: int) -> None:
    """Restart the random numbers of the current GPU from a seed."""
    if is_available():
        generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Restart the random numbers of all GPUs from a seed."""
    manual_seed(seed)


def seed() -> None:
    """Restart the random numbers from a seed that the operating system chose."""
    if is_available():
        generator.seed()


def seed_all() -> None:
    """`seed`, for all GPUs."""
    seed()


def initial_seed() -> int:
    """The seed that the random numbers were last started from."""
    return generator.initial_seed()
