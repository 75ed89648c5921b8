"""`DistributedSampler`: one process's share of a dataset in data-parallel training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from importlib import import_module
from itertools import cycle, islice

import tenfold
from tenfold.data.sampler import Sampler, seeded


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index starting at `rank`, of one permutation that all processes draw alike.

    The order depends on `seed + epoch` only: call `set_epoch` before each epoch. The length is made divisible by
    repeating indices from the start, or with `drop_last` by leaving out the last ones.

    Raises: ValueError when `rank` is outside [0, num_replicas - 1]; RuntimeError when a default is wanted and no
    process group is there.

    >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = _from_process_group("get_world_size", "num_replicas")
        if rank is None:
            rank = _from_process_group("get_rank", "rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        share = len(dataset) / num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        order = tenfold.randperm(n, generator=seeded(self.seed + self.epoch)).tolist() if self.shuffle else range(n)
        return islice(cycle(order), self.rank, self.total_size, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order the next pass gives."""
        self.epoch = epoch


def _from_process_group(function: str, argument: str) -> int:
    try:
        return int(getattr(import_module("tenfold.distributed"), function)())
    except ImportError as error:
        raise RuntimeError(
            f"DistributedSampler: {argument} was not given, and tenfold.distributed, which knows it, is not installed; give it"
        ) from error
