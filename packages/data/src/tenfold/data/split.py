"""`random_split`: cut a dataset into random parts that do not overlap."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import tenfold
from tenfold import Generator
from tenfold.data.dataset import Subset


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Cut a dataset into random parts of given lengths, or of given fractions when these sum to at most 1.

    Fractions give `floor(fraction * len(dataset))` samples each; what is left over goes to the parts in turn.

    Raises: ValueError when lengths do not sum to the dataset's, or a fraction is outside [0, 1].

    >>> [len(part) for part in random_split(range(10), [0.33, 0.33, 0.34])]
    [4, 3, 3]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _whole_lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError(
            f"random_split: Sum of input lengths does not equal the length of the input dataset: "
            f"{list(lengths)} sum to {sum(lengths)}, the dataset has {len(dataset)}; give that sum, or fractions of 1"
        )
    order = tenfold.randperm(len(dataset), generator=generator).tolist()
    sizes = [int(length) for length in lengths]
    return [Subset(dataset, order[end - size : end]) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def _whole_lengths(total: int, fractions: Sequence[float]) -> list[int]:
    for position, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"random_split: Fraction at index {position} is not between 0 and 1: {fraction}")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for extra in range(total - sum(lengths)):
        lengths[extra % len(lengths)] += 1
    for position, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"random_split: the part at index {position} is empty", stacklevel=3)
    return lengths
