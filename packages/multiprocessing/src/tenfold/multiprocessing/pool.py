"""`tenfold.multiprocessing.pool`: Python's process pool, which sends tensors as handles (see `reductions`)."""

from __future__ import annotations

from multiprocessing.pool import Pool

__all__ = ["Pool"]
