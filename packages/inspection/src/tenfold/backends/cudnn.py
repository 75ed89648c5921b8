"""Switches of cuDNN, which is not used; `allow_tf32` is heeded by tenfold-backend-cuda's own convolutions."""

from tenfold.backends._absent import flags_of, is_available

enabled = benchmark = False
deterministic = allow_tf32 = True
benchmark_limit = 10
flags = flags_of(__name__)


def version() -> None:
    """None: there is no cuDNN."""


__all__ = ["flags", "is_available", "version"]
