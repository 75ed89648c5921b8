"""Memory formats: the order in which a tensor's dimensions lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.types import qualified


class memory_format:  # noqa: N801 - PyTorch's name
    """A memory format, such as `tenfold.channels_last`."""

    __slots__ = ("name", "order")

    def __init__(self, name: str, order: tuple[int, ...] | None) -> None:
        self.name = name
        self.order = order  # dimensions from the outermost in memory to the innermost; None: as they are

    def __repr__(self) -> str:
        return qualified(self.name)

    def __reduce__(self) -> str:
        return self.name

    def order_for(self, array: Any) -> tuple[int, ...]:
        """The order of an array's dimensions in memory under this format."""
        n = len(array.shape)
        if self is preserve_format:
            if not is_dense(array):
                return propagated_order(array.shape, [steps_of(array)])
            return tuple(sorted(range(n), key=lambda d: (-array.strides[d], d)))
        if not self.order:
            return tuple(range(n))
        if n != len(self.order):
            raise RuntimeError(f"required rank {len(self.order)} tensor to use {self.name} format, got rank {n}")
        return self.order

    def holds(self, tensor: Any) -> bool:
        """Whether a tensor lies in memory in this format."""
        if len(self.order or ()) not in (0, tensor.dim()):
            return False
        step = 1
        shape, strides = tensor.shape, tensor.stride()
        for d in reversed(self.order or range(len(shape))):
            if shape[d] != 1:
                if strides[d] != step:
                    return False
                step *= shape[d]
        return True


def with_steps(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements, with the step over what is behind it for each dimension of size 1 that NumPy gave none."""
    steps = list(strides)
    for d in range(len(steps) - 1, -1, -1):
        if steps[d] == 0 and shape[d] == 1:
            steps[d] = shape[d + 1] * steps[d + 1] if d + 1 < len(steps) else 1
    return tuple(steps)


def steps_of(array: Any) -> tuple[int, ...]:
    """An array's strides in elements, as its tensor shows them."""
    itemsize = array.dtype.itemsize
    return with_steps(array.shape, [s // itemsize for s in array.strides])


def is_dense(array: Any) -> bool:
    """Whether the elements fill one block of memory without gaps or overlaps, in any order of dimensions."""
    step = array.dtype.itemsize
    for s, n in sorted((s, n) for n, s in zip(array.shape, array.strides) if n != 1):
        if s != step:
            return False
        step *= n
    return True


def propagated_order(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The order of dimensions in memory, outermost first, of what is computed from operands with these strides.

    The first operand whose strides of two dimensions differ decides which of them is the inner one; strides of 0, which
    repeat elements, decide nothing; of equal strides the longer dimension is the outer one. This is PyTorch's rule for
    elementwise operators and for copies.
    """
    order = list(range(len(shape)))[::-1]  # from the innermost dimension on
    for i in range(1, len(order)):
        at = i
        for inner in range(i - 1, -1, -1):
            swap = _comes_after(order[inner], order[at], shape, strides)
            if swap < 0:
                break
            if swap > 0:
                order[inner], order[at] = order[at], order[inner]
                at = inner
    return tuple(order[::-1])


def _comes_after(d: int, other: int, shape: Sequence[int], strides: Sequence[Sequence[int]]) -> int:
    """Whether a dimension lies outside of another in memory: 1 yes, -1 no, 0 when no operand says so."""
    for steps in strides:
        if not steps[d] or not steps[other]:
            continue
        if steps[d] != steps[other]:
            return 1 if steps[d] > steps[other] else -1
        if shape[d] > shape[other]:
            return 1
    return 0


contiguous_format = memory_format("contiguous_format", ())
preserve_format = memory_format("preserve_format", None)
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))


def refuse_negative(strides: Any) -> None:
    """RuntimeError for strides that count backwards, which views do not have."""
    if min(strides, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}")


def suggested_format(array: Any) -> memory_format:
    """The format of what is computed from an array: channels_last where all of its strides, as in PyTorch, say so."""
    shape = array.shape
    found = {4: channels_last, 5: channels_last_3d}.get(len(shape))
    if found is None or 0 in shape:
        return contiguous_format
    strides = steps_of(array)
    if not strides[1]:
        return contiguous_format
    least = 0
    for d in reversed(found.order):  # type: ignore[arg-type]
        if strides[d] < least or (d == 0 and least == strides[1]):
            return contiguous_format
        least = strides[d] * max(shape[d], 1)
    return found


class layout:  # noqa: N801 - PyTorch's name
    """How a tensor's elements are arranged; every tensor here is `tenfold.strided`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return qualified(self.name)

    def __reduce__(self) -> str:
        return self.name


strided, sparse_coo, sparse_csr = layout("strided"), layout("sparse_coo"), layout("sparse_csr")
sparse_csc, sparse_bsr, sparse_bsc = layout("sparse_csc"), layout("sparse_bsr"), layout("sparse_bsc")
jagged = layout("jagged")
