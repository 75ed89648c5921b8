"""`DistributedDataParallel` needs process groups, which another package brings."""

from __future__ import annotations

from typing import Any

from tenfold.nn.module import Module


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over processes; here it can be named and asked `isinstance` of.

    Raises: RuntimeError when one is made: process groups are in tenfold-distributed.
    """

    def __init__(self, module: Module, *arguments: Any, **options: Any) -> None:
        raise RuntimeError(
            "DistributedDataParallel: process groups are in the package tenfold-distributed, which is not installed; on one "
            "machine call the module itself"
        )
