"""Switches of MKL, which is not used."""

from tenfold.backends._absent import is_available

VERBOSE_OFF, VERBOSE_ON = 0, 1

__all__ = ["is_available"]
