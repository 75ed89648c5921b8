"""Shares of a stream: which items one of several workers, machines or groups of them gets."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import Any

from tenfold.data.datapipes.datapipe import IterDataPipe, functional_datapipe

__all__ = ["SHARDING_PRIORITIES", "ShardingFilter"]


class SHARDING_PRIORITIES(IntEnum):  # noqa: N801 - PyTorch's name
    """Who shares out: one group for all, or machines and then their workers."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


@functional_datapipe("sharding_filter")
class ShardingFilter(IterDataPipe[Any]):
    """One worker's share of the items: every n-th; of several groups that share out, the share of a share.

    With `sharding_group_filter` only that group's sharing counts here.

    >>> from tenfold.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(12)).sharding_filter()
    >>> pipe.apply_sharding(2, 1, sharding_group=SHARDING_PRIORITIES.DISTRIBUTED)
    >>> pipe.apply_sharding(3, 0, sharding_group=SHARDING_PRIORITIES.MULTIPROCESSING)
    >>> list(pipe)
    [3, 9]
    """

    def __init__(self, source_datapipe: Any, sharding_group_filter: int | None = None) -> None:
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: int = SHARDING_PRIORITIES.DEFAULT) -> None:
        """Become one of so many shares of a group.

        Raises: ValueError when there is no such share; RuntimeError where the group of all meets others.
        """
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        others = [group for group in self.groups if group != sharding_group]
        if others and SHARDING_PRIORITIES.DEFAULT in (sharding_group, *others):
            raise RuntimeError(
                "ShardingFilter cannot mix DEFAULT and non DEFAULT groups: the pipe is shared out by "
                f"{others[0]!r} and {sharding_group!r} comes; give every call a group of its own"
            )
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self.num_of_instances, self.instance_id = 1, 0
        for group in sorted(self.groups, reverse=True):  # workers of one machine get neighbours
            if self.sharding_group_filter in (None, group):
                instances, instance = self.groups[group]
                self.instance_id += self.num_of_instances * instance
                self.num_of_instances *= instances

    def __iter__(self) -> Iterator[Any]:
        return islice(self.source_datapipe, self.instance_id, None, self.num_of_instances)

    def __len__(self) -> int:
        whole, rest = divmod(self._length_of(self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < rest)
