"""Switches of cuDNN, which is not used."""

from tenfold.backends._absent import flags_of, is_available

enabled = benchmark = allow_tf32 = False
deterministic = True
benchmark_limit = 10
flags = flags_of(__name__)


def version() -> None:
    """None: there is no cuDNN."""


__all__ = ["flags", "is_available", "version"]
