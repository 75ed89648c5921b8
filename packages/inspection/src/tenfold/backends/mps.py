"""Apple's GPUs, which are not there."""

from tenfold.backends._absent import is_available, is_built

__all__ = ["is_available", "is_built"]
