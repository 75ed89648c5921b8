"""Batches of texts of about the same length, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tenfold
from tenfold import Generator
from tenfold.data import Sampler


class BucketSampler(Sampler[list[int]]):
    """Batches of indices whose samples are about equally long; a `DataLoader`'s `batch_sampler`.

    The samples are shuffled and cut into stretches of `bucket_batches` batches; each stretch is sorted by length and its batches
    come in random order. With `max_tokens` a batch has as many samples as fit, padding counted, and at most `batch_size`.

    Raises: ValueError where `batch_size`, `bucket_batches` or `max_tokens` is below 1, or a sample longer than `max_tokens`.

    >>> sorted(sorted(batch) for batch in BucketSampler([9, 1, 8, 2], batch_size=2))
    [[0, 2], [1, 3]]
    """

    def __init__(
        self,
        lengths: Sequence[int],
        batch_size: int,
        shuffle: bool = True,
        drop_last: bool = False,
        bucket_batches: int = 100,
        max_tokens: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("bucket_batches", bucket_batches), ("max_tokens", max_tokens)):
            if value is not None and value < 1:
                raise ValueError(f"BucketSampler: {name} must be at least 1, got {value}")
        if max_tokens is not None and max(lengths, default=0) > max_tokens:
            raise ValueError(f"BucketSampler: a sample has {max(lengths)} tokens, more than max_tokens={max_tokens}; truncate it")
        self.lengths, self.batch_size, self.shuffle, self.drop_last = list(lengths), batch_size, shuffle, drop_last
        self.bucket_batches, self.max_tokens, self.generator = bucket_batches, max_tokens, generator

    def __iter__(self) -> Iterator[list[int]]:
        order = self._permutation(len(self.lengths))
        bucket = self.batch_size * self.bucket_batches
        for start in range(0, len(order), bucket):
            stretch = sorted(order[start : start + bucket], key=self.lengths.__getitem__)
            batches = [batch for batch in self._cut(stretch) if not self.drop_last or len(batch) == self.batch_size]
            for position in self._permutation(len(batches)):
                yield batches[position]

    def _permutation(self, n: int) -> list[int]:
        if not self.shuffle:
            return list(range(n))
        return [int(index) for index in tenfold.randperm(n, generator=self.generator).tolist()]

    def _cut(self, indices: list[int]) -> Iterator[list[int]]:
        """Batches of indices that come sorted by length."""
        batch: list[int] = []
        for index in indices:
            full = len(batch) == self.batch_size
            if batch and (full or (self.max_tokens and (len(batch) + 1) * self.lengths[index] > self.max_tokens)):
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def __len__(self) -> int:
        """The number of batches; with `max_tokens` and shuffling it differs from pass to pass, and this is refused."""
        if self.max_tokens is not None:
            if self.shuffle:
                raise TypeError("BucketSampler: with max_tokens and shuffling the number of batches differs from pass to pass")
            return sum(1 for _ in self)
        n, size = len(self.lengths), self.batch_size
        return n // size if self.drop_last else -(-n // size)
