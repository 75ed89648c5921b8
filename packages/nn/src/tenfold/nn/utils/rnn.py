"""Sequences of different lengths: padded into one tensor, or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.dispatch.spellings import as_bool

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _PackedFields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_PackedFields):
    """The steps of a batch of sequences without padding, as the recurrent layers take it.

    `data` (sum of lengths, *) holds all first steps, then all second ones, ...; `batch_sizes` (T), int64 on the CPU, how many
    sequences reach each step; the indices sort the batch by falling length and back (None: it was sorted).
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            raise ValueError("PackedSequence: batch_sizes is missing; make one with pack_padded_sequence or pack_sequence.")
        if batch_sizes.device.type != "cpu":
            raise ValueError(f"PackedSequence: batch_sizes should always be on CPU, got {batch_sizes.device}.")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Moves or casts the data as `Tensor.to`, and the indices to the same device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [None if index is None else index.to(data.device) for index in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self.to(device="cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a GPU."""
        return self if self.is_cuda and not args and not kwargs else self.to(*(args or ("cuda",)), **kwargs)

    def pin_memory(self) -> PackedSequence:
        """In memory that a GPU reads directly."""
        held: tuple[Any, ...] = (self.data, self.sorted_indices, self.unsorted_indices)
        pinned: list[Any] = [None if t is None else t.pin_memory() for t in held]
        return type(self)(pinned[0], self.batch_sizes, *pinned[1:])

    def double(self) -> PackedSequence:
        """As float64."""
        return self.to(dtype=tenfold.float64)

    def float(self) -> PackedSequence:
        """As float32."""
        return self.to(dtype=tenfold.float32)

    def half(self) -> PackedSequence:
        """As float16."""
        return self.to(dtype=tenfold.float16)

    def long(self) -> PackedSequence:
        """As int64."""
        return self.to(dtype=tenfold.int64)

    def int(self) -> PackedSequence:
        """As int32."""
        return self.to(dtype=tenfold.int32)

    def short(self) -> PackedSequence:
        """As int16."""
        return self.to(dtype=tenfold.int16)

    def char(self) -> PackedSequence:
        """As int8."""
        return self.to(dtype=tenfold.int8)

    def byte(self) -> PackedSequence:
        """As uint8."""
        return self.to(dtype=tenfold.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        data: Any = self.data
        return bool(data.is_pinned())


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes `permutation` (None stays None)."""
    if permutation is None:
        return None
    places = tenfold.arange(permutation.numel(), device=permutation.device)
    return tenfold.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Packs padded sequences of the given lengths. Shape: (T, B, *), or (B, T, *) with `batch_first`.

    Raises RuntimeError for lengths that are not positive, not as many as sequences, or, while `enforce_sorted`, not falling.

    >>> packed = pack_padded_sequence(tenfold.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True)
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 3, 2], [2, 1])
    """
    if not input.numel():
        raise RuntimeError("pack_padded_sequence: Cannot pack empty tensors.")
    if isinstance(lengths, Tensor) and lengths.dim() != 1:
        raise RuntimeError(f"pack_padded_sequence: 'lengths' argument should be a 1D tensor, but got {lengths.dim()}D")
    counts = [int(length) for length in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    batch, longest = input.shape[:2] if batch_first else (input.size(1), input.size(0))
    sorted_indices, rows = None, np.arange(batch)
    if not enforce_sorted:
        order = tenfold.tensor(counts, dtype=tenfold.int64, device="cpu").sort(descending=True).indices
        counts = [counts[i] for i in order.tolist()]
        sorted_indices, rows = order.to(input.device), order.numpy()
    _check_lengths(counts, batch)
    batch_sizes = [sum(length > t for length in counts) for t in range(max(counts))]
    if len(batch_sizes) > longest:
        raise IndexError(f"index {longest} is out of bounds for dimension 0 with size {longest}")
    ends = np.cumsum(batch_sizes)
    steps = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    rows = rows[np.arange(ends[-1]) - np.repeat(ends - batch_sizes, batch_sizes)]
    places = rows * longest + steps if batch_first else steps * batch + rows  # of each step's rows, one step after the other
    data = input.flatten(0, 1).index_select(0, tenfold.from_numpy(places).to(input.device))
    return PackedSequence(data, tenfold.tensor(batch_sizes, dtype=tenfold.int64, device="cpu"), sorted_indices, None)


def _check_lengths(counts: list[int], batch: int) -> None:
    if len(counts) != batch:
        raise RuntimeError(
            f"pack_padded_sequence: Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})"
        )
    if not all(length > 0 for length in counts):
        raise RuntimeError("pack_padded_sequence: Length of all samples has to be greater than 0, got " + str(counts))
    if any(a < b for a, b in pairwise(counts)):
        raise RuntimeError(
            "pack_padded_sequence: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to have it sorted."
        )


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The inverse of `pack_padded_sequence`: (padded (T, B, *) or (B, T, *), lengths (B)).

    Raises ValueError for a `total_length` shorter than the longest sequence.
    """
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "pad_packed_sequence: Expected total_length to be at least the length of the longest sequence in input, "
            "but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data, batch = sequence.data, sizes[0]
    length = len(sizes) if total_length is None else total_length
    places = tenfold.from_numpy(np.concatenate([t * batch + np.arange(size) for t, size in enumerate(sizes)]))
    padded = data.new_full((length * batch, *data.shape[1:]), padding_value).index_copy(0, places.to(data.device), data)
    padded = padded.view(length, batch, *data.shape[1:])
    lengths = tenfold.tensor([sum(size > b for size in sizes) for b in range(batch)], dtype=tenfold.int64, device="cpu")
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Stacks sequences (L_i, *) into (T, B, *), or (B, T, *) with `batch_first`, padded to the longest.

    Raises RuntimeError for something that is not iterable and for another side than left or right.

    >>> pad_sequence([tenfold.tensor([1, 2]), tenfold.tensor([3])], batch_first=True).tolist()
    [[1, 2], [3, 0]]
    """
    if not isinstance(sequences, (Iterable, Tensor)):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if type(batch_first) is not bool:
        as_bool(batch_first, "pad_sequence", "batch_first")  # type: ignore[unreachable]
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: padding_side should be either 'right' or 'left', got {padding_side!r}")
    parts = list(sequences)
    longest = max(part.size(0) for part in parts)
    padded = []
    for part in parts:
        filler = part.new_full((longest - part.size(0), *part.shape[1:]), padding_value)
        padded.append(tenfold.cat([part, filler] if padding_side == "right" else [filler, part]))
    return tenfold.stack(padded, dim=0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each cut to its length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [
        row[:length].clone(memory_format=tenfold.contiguous_format) for row, length in zip(rows, lengths.tolist(), strict=True)
    ]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (L_i, *), longest first unless `enforce_sorted=False`."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that `pack_sequence` packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
