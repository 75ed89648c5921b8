"""Which clips of which films: some of each, or every process's share of them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sized
from typing import Any, cast

import tenfold
from tenfold import Tensor
from tenfold.data import Sampler
from tenfold.vision.datasets.clips import VideoClips


class _ClipSampler(Sampler[int]):
    def __init__(self, video_clips: VideoClips, clips_per_video: int) -> None:
        if not isinstance(video_clips, VideoClips):
            raise TypeError(
                f"{type(self).__name__}: Expected video_clips to be an instance of VideoClips, got {type(video_clips)}; a data "
                "set of films has one as its video_clips"
            )
        self.video_clips = video_clips
        self._clips_per_video = clips_per_video

    def _starts(self) -> list[tuple[int, int]]:
        """The number of each film's first clip among all, and how many it has; films without clips are left out."""
        counts = [len(clips) for clips in self.video_clips.clips]
        return [(sum(counts[:number]), count) for number, count in enumerate(counts) if count]


class UniformClipSampler(_ClipSampler):
    """``num_clips_per_video`` clips of every film, at even distances; some of them repeated where it has fewer.

    Raises:
        TypeError: ``video_clips`` is none.
    """

    def __init__(self, video_clips: VideoClips, num_clips_per_video: int) -> None:
        super().__init__(video_clips, num_clips_per_video)
        self.num_clips_per_video = num_clips_per_video

    def __iter__(self) -> Iterator[int]:
        chosen: list[int] = []
        for start, count in self._starts():
            places = tenfold.linspace(start, start + count - 1, steps=self.num_clips_per_video)
            chosen += places.floor().to(tenfold.int64).tolist()
        return iter(chosen)

    def __len__(self) -> int:
        return len(self._starts()) * self.num_clips_per_video


class RandomClipSampler(_ClipSampler):
    """At most ``max_clips_per_video`` clips of every film, drawn at random and shuffled.

    Raises:
        TypeError: ``video_clips`` is none.
    """

    def __init__(self, video_clips: VideoClips, max_clips_per_video: int) -> None:
        super().__init__(video_clips, max_clips_per_video)
        self.max_clips_per_video = max_clips_per_video

    def __iter__(self) -> Iterator[int]:
        drawn = [tenfold.randperm(count)[: self.max_clips_per_video] + start for start, count in self._starts()]
        chosen: Tensor = tenfold.cat(drawn) if drawn else tenfold.empty(0, dtype=tenfold.int64)
        return iter(chosen[tenfold.randperm(len(chosen))].tolist())

    def __len__(self) -> int:
        return sum(min(count, self.max_clips_per_video) for _, count in self._starts())


class DistributedSampler(Sampler[int]):
    """Every process's share of a data set or of a sampler, in groups of ``group_size`` samples that stay together.

    All shares are equally long: the first samples are given again where they do not divide. ``shuffle`` orders by the epoch.

    >>> [list(DistributedSampler(range(8), num_replicas=2, rank=rank, group_size=2)) for rank in (0, 1)]
    [[0, 1, 4, 5], [2, 3, 6, 7]]

    Raises:
        RuntimeError: the number of processes is not given and none were started.
        ValueError: the samples do not divide into groups.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        group_size: int = 1,
    ) -> None:
        if num_replicas is None or rank is None:
            processes = _processes()
            num_replicas = processes.get_world_size() if num_replicas is None else num_replicas
            rank = processes.get_rank() if rank is None else rank
        if len(dataset) % group_size:
            raise ValueError(
                f"DistributedSampler: dataset length must be a multiplier of group size, got dataset length: {len(dataset)}, "
                f"group size: {group_size}"
            )
        self.dataset, self.group_size, self.num_replicas, self.rank = dataset, group_size, num_replicas, rank
        self.epoch, self.shuffle = 0, shuffle
        self.num_group_samples = math.ceil(len(dataset) // group_size / num_replicas)
        self.num_samples = self.num_group_samples * group_size
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = range(count)
        if self.shuffle:
            order = tenfold.randperm(count, generator=tenfold.Generator().manual_seed(self.epoch)).tolist()
        every = [order[place % count] for place in range(self.total_size)]
        groups = [every[start : start + self.group_size] for start in range(0, self.total_size, self.group_size)]
        own = [index for group in groups[self.rank :: self.num_replicas] for index in group]
        if isinstance(self.dataset, Sampler):
            sampled = list(cast("Any", self.dataset))
            own = [sampled[index] for index in own]
        return iter(own)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """The number that the order of ``shuffle`` is drawn from."""
        self.epoch = epoch


def _processes() -> Any:
    try:
        return importlib.import_module("tenfold.distributed")
    except ModuleNotFoundError as error:
        raise RuntimeError(
            "DistributedSampler: Requires distributed package to be available: install tenfold-distributed, or give num_replicas "
            "and rank"
        ) from error
