"""Switches of opt_einsum, which is not used."""

from tenfold.backends._absent import is_available

enabled = False
strategy = None

__all__ = ["is_available"]
