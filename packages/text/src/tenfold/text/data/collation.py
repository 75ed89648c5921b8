"""Collation of texts: sequences of different lengths become one padded batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.data import default_collate
from tenfold.nn.utils.rnn import pad_sequence


class PadCollate:
    """Collates samples whose sequences (lists of numbers, or tensors, along their first dimension) differ in length.

    Sequences are padded to the longest of the batch, numbers and strings collated as `default_collate` does; tuples and
    mappings give a batch for each of their parts. `padding` is one number, or one for each name of a mapping. With `lengths`
    a batch is (batch, lengths of its first part).

    >>> collate = PadCollate(padding=9)
    >>> ids, labels = collate([([1, 2, 3], 0), ([4], 1)])
    >>> ids.tolist(), labels.tolist()
    ([[1, 2, 3], [4, 9, 9]], [0, 1])
    """

    def __init__(self, padding: float | Mapping[str, float] = 0, side: str = "right", lengths: bool = False) -> None:
        self.padding, self.side, self.lengths = padding, side, lengths

    def __call__(self, batch: Sequence[Any]) -> Any:
        made = self._collated(batch, self.padding if not isinstance(self.padding, Mapping) else 0)
        if not self.lengths:
            return made
        first = [_first(sample) for sample in batch]
        return made, tenfold.tensor([len(sequence) for sequence in first], dtype=tenfold.int64)

    def _collated(self, batch: Sequence[Any], padding: float) -> Any:
        first = batch[0]
        if isinstance(first, Mapping):
            named = self.padding if isinstance(self.padding, Mapping) else {}
            return {name: self._collated([sample[name] for sample in batch], named.get(name, padding)) for name in first}
        if isinstance(first, tuple):
            return tuple(self._collated(part, padding) for part in zip(*batch, strict=True))
        if _is_sequence(first):
            return self._padded(batch, padding)
        return default_collate(list(batch))

    def _padded(self, batch: Sequence[Any], padding: float) -> Tensor:
        rows = [row if isinstance(row, Tensor) else tenfold.tensor(row, dtype=_kind(row)) for row in batch]
        return pad_sequence(rows, batch_first=True, padding_value=padding, padding_side=self.side)


def _is_sequence(sample: Any) -> bool:
    if isinstance(sample, Tensor):
        return sample.dim() > 0
    return isinstance(sample, list) and all(isinstance(item, int | float) for item in sample)


def _kind(row: list[Any]) -> Any:
    """int64 also for an empty row."""
    return None if any(isinstance(item, float) for item in row) else tenfold.int64


def _first(sample: Any) -> Any:
    """The first sequence of a sample."""
    if isinstance(sample, Mapping):
        return _first(next(iter(sample.values())))
    return _first(sample[0]) if isinstance(sample, tuple) else sample
