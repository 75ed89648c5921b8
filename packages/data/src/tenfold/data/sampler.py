"""Samplers: the order in which a loader visits a dataset; index for index PyTorch's under one seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import tenfold
from tenfold import Generator

T_co = TypeVar("T_co", covariant=True)

# With replacement PyTorch draws indices in groups of this size; the group size decides how the generator is consumed.
_DRAW = 32


def draw_seed(generator: Generator | None = None) -> int:
    """A seed drawn from a generator (the default one when None): an int64 of 63 random bits, as PyTorch draws it."""
    return int(tenfold.empty((), dtype=tenfold.int64).random_(generator=generator).item())


def seeded(seed: int) -> Generator:
    """A new generator that starts at a seed."""
    generator = Generator()
    generator.manual_seed(seed)
    return generator


class Sampler(Generic[T_co]):
    """Base of samplers: an iterable of indices (or of lists of indices); `__len__` when the count is known."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__}: a Sampler needs a method __iter__(self); define it in the subclass")


class SequentialSampler(Sampler[int]):
    """Indices 0, 1, 2, ... in order.

    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order, or drawn independently with `replacement`.

    Without replacement and with `num_samples` above the dataset's length, whole permutations follow one another.

    Raises: TypeError when `replacement` is no bool; ValueError when `num_samples` is no positive integer.

    >>> sorted(RandomSampler("abcd"))
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _require_positive(self, "num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives; follows the dataset's length unless it was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        # Lists chained in C: a generator of indices would cost an epoch more than all its batches.
        return chain.from_iterable(self._lists())

    def _lists(self) -> Iterator[list[int]]:
        generator = seeded(draw_seed()) if self.generator is None else self.generator
        yield from self._draws(generator) if self.replacement else self._permutations(generator)

    def _draws(self, generator: Generator) -> Iterator[list[int]]:
        for start in range(0, self.num_samples, _DRAW):
            size = (min(_DRAW, self.num_samples - start),)
            yield tenfold.randint(len(self.data_source), size, dtype=tenfold.int64, generator=generator).tolist()

    def _permutations(self, generator: Generator) -> Iterator[list[int]]:
        n, total = len(self.data_source), self.num_samples
        for start in range(0, total, n):
            yield tenfold.randperm(n, generator=generator).tolist()[: total - start]
        if total % n == 0 and self.generator is not None:
            # PyTorch also draws the (empty) rest of the last permutation: a generator shared between epochs must too.
            tenfold.randperm(n, generator=generator)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order, without replacement.

    >>> sorted(SubsetRandomSampler([7, 2, 5]))
    [2, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for position in tenfold.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn in proportion to weights, which need not sum to 1.

    Raises: ValueError when `num_samples` is no positive integer, `replacement` no bool, or weights not 1-d.

    >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _require_positive(self, "num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"WeightedRandomSampler: replacement should be a boolean value, but got replacement={replacement}")
        self.weights = tenfold.as_tensor(weights, dtype=tenfold.double)
        if self.weights.ndim != 1:
            raise ValueError(
                f"WeightedRandomSampler: weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = tenfold.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Groups of `batch_size` indices of another sampler; a short last group is kept unless `drop_last`.

    Raises: ValueError when `batch_size` is no positive integer or `drop_last` no bool.

    >>> list(BatchSampler(range(5), 2, drop_last=False)), list(BatchSampler(range(5), 2, drop_last=True))
    ([[0, 1], [2, 3], [4]], [[0, 1], [2, 3]])
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _require_positive(self, "batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"BatchSampler: drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return full + (rest > 0 and not self.drop_last)


class EndlessSampler(Sampler[None]):
    """None for ever: what drives the loading of an `IterableDataset`, which has no indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


def _require_positive(owner: object, name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{type(owner).__name__}: {name} should be a positive integer value, but got {name}={value}")
