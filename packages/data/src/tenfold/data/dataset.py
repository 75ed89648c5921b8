"""Datasets: what can be indexed (`Dataset`), what can only be iterated (`IterableDataset`), and ways to combine them."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, Generic, TypeVar

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.data.collation import collates_plainly, default_collate

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Map from an index to a sample; subclasses define `__getitem__` and usually `__len__`.

    A subclass may also define `__getitems__(indices)`, which the loader then calls once per batch, and beyond PyTorch's API
    `__getbatch__(indices)`, which gives what default collation would make of these samples.

    Raises: NotImplementedError from `__getitem__` when a subclass lacks it.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, index): return index * index
    ...     def __len__(self): return 4
    >>> [Squares()[i] for i in range(4)]
    [0, 1, 4, 9]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            f"{type(self).__name__}: a Dataset needs a method __getitem__(self, index); define it in the subclass"
        )

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Stream of samples; subclasses define `__iter__`.

    With worker processes every worker iterates its own copy: use `get_worker_info` to share the stream out.

    >>> class Countdown(IterableDataset):
    ...     def __iter__(self): return iter((3, 2, 1))
    >>> list(Countdown() + Countdown())
    [3, 2, 1, 3, 2, 1]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(
            f"{type(self).__name__}: an IterableDataset needs a method __iter__(self); define it in the subclass"
        )

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are the rows of tensors that share their first size: sample i is `(t[i] for t in tensors)`.

    Raises: AssertionError when the first sizes differ.

    >>> import tenfold
    >>> x, y = TensorDataset(tenfold.tensor([1.0, 2.0]), tenfold.tensor([0, 1]))[1]
    >>> x.item(), y.item()
    (2.0, 1)
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            sizes = [len(tensor) for tensor in tensors]
            raise AssertionError(f"TensorDataset: Size mismatch between tensors: first sizes {sizes} must be equal")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getbatch__(self, indices: Sequence[int]) -> list[Tensor]:
        """What collating the samples at these indices gives, gathered in one step."""
        own = type(self).__getitem__ is not TensorDataset.__getitem__ or hasattr(self, "__getitems__")
        if own or not _are_numbers(indices) or any(type(tensor) is not Tensor for tensor in self.tensors):
            return default_collate(_items(self, indices))  # type: ignore[no-any-return]
        rows = tenfold.from_numpy(np.asarray(indices, np.int64))
        return [tensor[rows.to(tensor.device)] for tensor in self.tensors]

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets of one length side by side: positional ones give tuples, keyword ones give dicts.

    Raises: ValueError when no dataset, both kinds, or different lengths are given.

    >>> StackDataset([1, 2], [3, 4])[0], StackDataset(a=[1, 2], b=[3, 4])[1]
    ((1, 3), {'a': 2, 'b': 4})
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("StackDataset: Supported either positional datasets or keyword ones, got both")
        if not args and not kwargs:
            raise ValueError("StackDataset: At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        if len(set(lengths)) > 1:
            raise ValueError(f"StackDataset: Size mismatch between datasets: lengths {lengths} must be equal")
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _assemble(self, samples: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, samples, strict=True)) if isinstance(self.datasets, dict) else tuple(samples)

    def __getitem__(self, index: Any) -> Any:
        return self._assemble(part[index] for part in self._parts())

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        columns = [_items(part, indices) for part in self._parts()]
        for part, samples in zip(self._parts(), columns, strict=True):
            if len(samples) != len(indices):
                raise ValueError(
                    f"{type(part).__name__}.__getitems__: Nested dataset's output size mismatch. Expected {len(indices)}, got "
                    f"{len(samples)}"
                )
        return [self._assemble(row) for row in zip(*columns, strict=True)]

    def __getbatch__(self, indices: Sequence[int]) -> Any:
        """What collating the samples at these indices gives."""
        if type(self).__getitem__ is not StackDataset.__getitem__ or type(self).__getitems__ is not StackDataset.__getitems__:
            return default_collate(_items(self, indices))
        columns = [batch_of(part, indices) for part in self._parts()]
        return dict(zip(self.datasets, columns, strict=True)) if isinstance(self.datasets, dict) else columns

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other; negative indices count from the end.

    Raises: AssertionError for no datasets or an `IterableDataset`; ValueError for a negative index out of range.

    >>> both = ConcatDataset(["ab", "cde"])
    >>> both[0], both[2], both[-1], len(both), both.cumulative_sizes
    ('a', 'c', 'e', 5, [2, 5])
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset: datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset; use ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each of several datasets ends in their chain.

        >>> ConcatDataset.cumsum(["ab", "cde"])
        [2, 5]
        """
        return list(accumulate(map(len, sequence)))

    def __getitem__(self, index: int) -> T_co:
        if index < -len(self):
            raise ValueError(f"ConcatDataset: absolute value of index should not exceed dataset length {len(self)}, got {index}")
        if index >= len(self):
            raise IndexError(f"ConcatDataset: index {index} is out of range for length {len(self)}")
        position = index + len(self) if index < 0 else index
        part = bisect_right(self.cumulative_sizes, position)
        start = self.cumulative_sizes[part - 1] if part else 0
        sample: T_co = self.datasets[part][position - start]
        return sample

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    @property
    def cummulative_sizes(self) -> list[int]:
        """`cumulative_sizes` by its first name."""
        warnings.warn("ConcatDataset: `cummulative_sizes` is now `cumulative_sizes`", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other, each started when the one before it is used up.

    Raises: AssertionError, when reached, for a part that is not an `IterableDataset`.
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._streams())

    def __len__(self) -> int:
        return sum(len(stream) for stream in self._streams())


class Subset(Dataset[T_co]):
    """The samples of a dataset at given indices.

    >>> subset = Subset("abcdef", [5, 0])
    >>> subset[0], subset[1], len(subset)
    ('f', 'a', 2)
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        sample: T_co
        if isinstance(index, list):
            sample = self.dataset[[self.indices[i] for i in index]]
        else:
            sample = self.dataset[self.indices[index]]
        return sample

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return _items(self.dataset, [self.indices[i] for i in indices])

    def __getbatch__(self, indices: Sequence[int]) -> Any:
        """What collating the samples at these indices gives."""
        if type(self).__getitem__ is not Subset.__getitem__ or type(self).__getitems__ is not Subset.__getitems__:
            return default_collate(_items(self, indices))
        return batch_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def batch_of(dataset: Any, indices: Sequence[int]) -> Any:
    """A batch as default collation makes it, at once where the dataset can (`__getbatch__`), else sample by sample."""
    at_once: Callable[[Sequence[int]], Any] | None = getattr(dataset, "__getbatch__", None)
    if at_once is not None and collates_plainly():
        return at_once(indices)
    return default_collate(_items(dataset, indices))


def _items(dataset: Any, indices: Sequence[int]) -> list[Any]:
    fetch_many: Callable[[Sequence[int]], list[Any]] | None = getattr(dataset, "__getitems__", None)
    return [dataset[index] for index in indices] if fetch_many is None else fetch_many(indices)


def _are_numbers(indices: Sequence[Any]) -> bool:
    """Whether each index names one row: not a slice, a list, a mask."""
    return all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in set(map(type, indices)))
