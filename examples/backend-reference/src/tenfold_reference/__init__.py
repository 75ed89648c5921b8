"""The device "ref" for Tenfold: memory in bytearrays, kernels in plain Python. Read block, backend, loops, kernels, plugin."""

from __future__ import annotations

from tenfold_reference.backend import ReferenceBackend
from tenfold_reference.block import Block

__all__ = ["Block", "ReferenceBackend"]
