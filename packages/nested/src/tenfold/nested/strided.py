"""The strided layout: rows of any sizes, all in one buffer."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested import printing
from tenfold.nested.strided_table import answer_strided
from tenfold.nested.table import dimension
from tenfold.tensor.holding import Holding

Sizes = tuple[int, ...]


class StridedNested(Holding):
    """A batch of tensors of one number of dimensions and any sizes, whose elements lie in the 1-D tensor `_held`.

    Each row has its sizes, its strides and the place where it begins. What autograd records, it records of the buffer.

    >>> import tenfold
    >>> tenfold.nested.nested_tensor([[1.0, 2.0], [3.0]])
    nested_tensor([
      tensor([1., 2.]),
      tensor([3.])
    ])
    """

    layout = tenfold.strided
    is_nested = True
    _sizes: list[Sizes]
    _strides: list[Sizes]
    _begins: list[int]

    @classmethod
    def of(
        cls, held: Tensor, sizes: Sequence[Sizes], strides: list[Sizes] | None = None, begins: list[int] | None = None
    ) -> StridedNested:
        """The nested tensor of a buffer; rows without strides and beginnings lie one after the other."""
        rank = len(sizes[0]) if sizes else 0
        # One element, shown everywhere, has the number of dimensions, dtype and device that a tensor is asked for.
        shown = held.detach().new_zeros(()).expand((len(sizes), *[1] * rank))
        made: StridedNested = cls._make_subclass(cls, shown)
        made._held, made._sizes = held, list(sizes)
        made._strides = [packed_strides(s) for s in sizes] if strides is None else strides
        made._begins = packed_begins(sizes) if begins is None else begins
        return made

    @classmethod
    def of_rows(cls, rows: Sequence[Tensor], like: Tensor | None = None) -> StridedNested:
        """The nested tensor of rows, copied into one buffer."""
        if rows:
            held = tenfold.cat([r.reshape(-1) for r in rows])
        else:
            held = tenfold.empty(0) if like is None else like.new_empty(0)
        return cls.of(held, [tuple(r.shape) for r in rows])

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry an operator out by the table of those that know this layout."""
        return answer_strided(func, args, kwargs or {})

    def like(self, held: Tensor) -> StridedNested:
        """The same rows of another buffer."""
        return StridedNested.of(held, self._sizes, self._strides, self._begins)

    def view_of(self, sizes: list[Sizes], strides: list[Sizes], begins: list[int] | None = None) -> StridedNested:
        """Other rows of the same buffer."""
        held = self._held
        if held.requires_grad and held.is_leaf:  # the view is none
            held = held.view_as(held)
        made = StridedNested.of(held, sizes, strides, self._begins if begins is None else begins)
        made._base = self if self._base is None else self._base
        return made

    # What is stored

    def rows(self) -> list[Tensor]:
        """The rows, views of the buffer."""
        if not self._sizes:
            return []
        if not self._packed():
            return [self._held.as_strided(*row) for row in zip(self._sizes, self._strides, self._begins)]
        parts = self._held.split([prod(s) for s in self._sizes])
        return [p.view(s) for p, s in zip(parts, self._sizes)]

    def row(self, index: int) -> Tensor:
        """One row, a view of the buffer."""
        n = len(self._sizes)
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {n}")
        return self._held.as_strided(self._sizes[index], self._strides[index], self._begins[index])

    def _packed(self) -> bool:
        return (
            self._strides == [packed_strides(s) for s in self._sizes]
            and self._begins == packed_begins(self._sizes)
            and self._held.numel() == sum(map(prod, self._sizes))
        )

    def packed(self) -> StridedNested:
        """The same rows one after the other."""
        return self if self._packed() else StridedNested.of_rows(self.rows(), self._held)

    def values(self) -> Tensor:
        """The buffer."""
        return self._held

    def _nested_tensor_size(self) -> Tensor:
        """The sizes of the rows, (B, dimensions)."""
        return _table(self._sizes)

    def _nested_tensor_strides(self) -> Tensor:
        """The strides of the rows, (B, dimensions)."""
        return _table(self._strides)

    def _nested_tensor_storage_offsets(self) -> Tensor:
        """Where each row begins in the buffer, (B)."""
        return tenfold.tensor(self._begins, dtype=tenfold.int64)

    def _gradient(self, g: Tensor) -> Tensor:
        return self.like(g)

    def _root(self, g: Any) -> tuple[Tensor, Any]:
        packed = self.packed()
        return packed._held, g.packed()._held if isinstance(g, StridedNested) else g

    def _written(self, result: Any) -> StridedNested:
        for mine, theirs in zip(self.rows(), result.rows()):
            mine.copy_(theirs)
        return self

    # What tensors are asked for

    @property
    def shape(self) -> Any:
        return self.size()

    def size(self, dim: int | None = None) -> Any:
        """The size of a dimension that is the same in all rows."""
        if dim is None:
            raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")
        d = dimension(dim, self.ndim)
        size = self._regular(d)
        if size is None:
            raise RuntimeError(f"Given dimension {d} is irregular and does not have a size.")
        return size

    def _regular(self, d: int) -> int | None:
        """The size of a dimension, None where rows differ."""
        if d == 0:
            return len(self._sizes)
        found = {s[d - 1] for s in self._sizes}
        return found.pop() if len(found) == 1 else None

    def stride(self, dim: int | None = None) -> Any:
        """Not known of tensors of different sizes."""
        raise RuntimeError("Internal error: NestedTensorImpl doesn't support strides. Please file an issue.")

    def dim(self) -> int:
        """The number of dimensions, the batch included; 1 for no rows."""
        return len(self._sizes[0]) + 1 if self._sizes else 1

    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements in all rows."""
        return sum(map(prod, self._sizes))

    nelement = numel

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the rows lie one after the other."""
        return self._packed()

    def data_ptr(self) -> int:
        """The address of the buffer."""
        return self._held.data_ptr()

    def storage_offset(self) -> int:
        """Where the buffer begins in its storage."""
        return self._held.storage_offset()

    def untyped_storage(self) -> Any:
        """The buffer's storage."""
        return self._held.untyped_storage()

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Any:
        return iter(self.rows())

    def __getitem__(self, index: Any) -> Any:
        return self._item(index if isinstance(index, tuple) else (index,))

    def _item(self, index: tuple[Any, ...]) -> Any:
        first, rest = index[0], index[1:]
        if first is Ellipsis and not rest:
            return self
        if not isinstance(first, int) or isinstance(first, bool):
            raise NotImplementedError(
                f"Could not run 'aten::slice' with arguments from the 'NestedTensorCPU' backend: the batch dimension of a nested "
                f"tensor takes an integer, got {first!r}; unbind() gives a list of rows"
            )
        return self.row(first)[rest] if rest else self.row(first)

    def __repr__(self, tensor_contents: Any = None) -> str:
        return printing.text_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (self._held.detach(), self._sizes, self._strides, self._begins, self.requires_grad)

    def __deepcopy__(self, memo: Any) -> Any:
        made = self.like(self._held.detach().clone())
        return made.requires_grad_(self.requires_grad)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """One tensor as large as the largest row, with `padding` where a row has no elements."""
        padded: Tensor = tenfold.nested.to_padded_tensor(self, padding, output_size)
        return padded

    def is_same_size(self, other: Any) -> bool:
        """Whether the rows have the same sizes."""
        if not isinstance(other, StridedNested):
            raise (ValueError if other.is_nested else RuntimeError)(
                f"Expected both self and other to be nested tensors. One is nested, of strided layout, and the other a "
                f"{type(other).__name__} of shape {tuple(other.shape)}"
            )
        return bool(self._sizes == other._sizes)


def _rebuilt(held: Tensor, sizes: Any, strides: Any, begins: Any, requires_grad: bool) -> StridedNested:
    return StridedNested.of(held, sizes, strides, begins).requires_grad_(requires_grad)


def _table(rows: list[Sizes]) -> Tensor:
    made = tenfold.tensor(rows, dtype=tenfold.int64)
    return made.reshape(len(rows), -1) if rows else made


def packed_strides(size: Sizes) -> Sizes:
    """The strides of a contiguous tensor."""
    strides, step = [], 1
    for n in reversed(size):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def packed_begins(sizes: Sequence[Sizes]) -> list[int]:
    """Where each of several contiguous tensors begins, one after the other."""
    begins, at = [], 0
    for size in sizes:
        begins.append(at)
        at += prod(size)
    return begins
