"""OpenMP, which is not used."""

from tenfold.backends._absent import is_available

__all__ = ["is_available"]
