"""Switches of oneDNN, which is not used."""

from tenfold.backends._absent import flags_of, is_available

enabled = False
flags = flags_of(__name__)

__all__ = ["flags", "is_available"]
