"""The jagged layout: rows that differ in one dimension, one behind the other along it."""

from __future__ import annotations

import itertools
from typing import Any, Self

import tenfold
from tenfold import Size, Tensor
from tenfold.nested import printing
from tenfold.nested.jagged_table import answer_jagged
from tenfold.nested.ragged import RaggedSize, size_of
from tenfold.nested.table import JAGGED, dimension
from tenfold.tensor.holding import Holding


class NestedTensor(Holding):
    """A batch of tensors that differ in one dimension: `_values` has them one behind the other along it.

    Row i begins at `offsets[i]` and ends at `offsets[i + 1]`, or has `lengths[i]` places. The size of the ragged dimension, the
    first behind the batch unless it was transposed, prints as `j1`. What autograd records, it records of the values.

    >>> import tenfold
    >>> x = tenfold.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=tenfold.jagged)
    >>> x.values(), x.offsets()
    (tensor([1., 2., 3.]), tensor([0, 2, 3]))
    """

    layout = tenfold.jagged
    is_nested = True
    _offsets: Tensor  # (B + 1), integers
    _lengths: Tensor | None  # (B)
    _ragged_idx: int
    _bounds: tuple[list[int], list[int]] | None
    _least: int | None
    _most: int | None

    def __new__(
        cls,
        values: Tensor,
        offsets: Tensor,
        *,
        lengths: Tensor | None = None,
        _ragged_idx: int = 1,
        _min_seqlen: int | None = None,
        _max_seqlen: int | None = None,
        **_: Any,
    ) -> Self:
        """The nested tensor of values and the places where its rows begin and end."""
        B = len(offsets) - 1
        # One element, shown everywhere, has the number of dimensions, dtype and device that a tensor is asked for.
        shown = values.detach().new_zeros(()).expand((B, *[1] * values.ndim))
        made: Self = cls._make_subclass(cls, shown)
        made._held, made._offsets, made._lengths, made._ragged_idx = values, offsets, lengths, _ragged_idx
        made._bounds, made._least, made._most = None, _min_seqlen, _max_seqlen
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry an operator out by the table of those that know this layout."""
        return answer_jagged(func, args, kwargs or {})

    def like(self, values: Tensor, ragged: int | None = None) -> NestedTensor:
        """The same rows of other values, along the dimension `ragged` of the result if it is not this tensor's."""
        made = NestedTensor(
            values, self._offsets, lengths=self._lengths, _ragged_idx=self._ragged_idx if ragged is None else ragged
        )
        made._bounds, made._least, made._most = self._bounds, self._least, self._most
        return made

    def view_of(self, values: Tensor, ragged: int | None = None) -> NestedTensor:
        """The same rows of values that are a view of this tensor's."""
        if values is self._held and values.requires_grad and values.is_leaf:
            values = values.view_as(values)
        made = self.like(values, ragged)
        made._base = self if self._base is None else self._base
        return made

    # What is stored

    @property
    def _values(self) -> Tensor:  # type: ignore[override]  # an attribute of this class, as PyTorch has it
        return self._held

    def values(self) -> Tensor:
        """The rows, one behind the other along the ragged dimension."""
        held = self._held
        return held.view_as(held) if held.is_leaf and held.requires_grad else held

    def offsets(self) -> Tensor:
        """Where each row begins, and where the last ends: (B + 1)."""
        return self._offsets

    def lengths(self) -> Tensor | None:
        """How many places each row has, where the next does not begin at its end: (B), or None."""
        return self._lengths

    def bounds(self) -> tuple[list[int], list[int]]:
        """Where each row begins, and how long it is."""
        if self._bounds is None:
            offsets: list[int] = self._offsets.tolist()
            lengths = [b - a for a, b in itertools.pairwise(offsets)] if self._lengths is None else self._lengths.tolist()
            self._bounds = offsets[:-1], lengths
        return self._bounds

    @property
    def _max_seqlen(self) -> int:
        return max(self.bounds()[1], default=0) if self._most is None else self._most

    @property
    def _min_seqlen(self) -> int:
        return min(self.bounds()[1], default=0) if self._least is None else self._least

    _maybe_max_seqlen, _maybe_min_seqlen = _max_seqlen, _min_seqlen

    def rows(self) -> list[Tensor]:
        """The rows, views of the values."""
        d = self._ragged_idx - 1
        begins, lengths = self.bounds()
        if d < 0 or d >= self._held.ndim:
            raise RuntimeError(
                f"unbind(): nested tensor ragged_idx {self._ragged_idx} out of bounds for {self._held.ndim + 1} dims"
            )
        size = self._held.shape[d]
        if any(b + n > size for b, n in zip(begins, lengths)):
            raise RuntimeError(
                f"unbind(): nested tensor offsets and lengths do not match ragged_idx dimension: rows begin at {begins}, have "
                f"the lengths {lengths}, and the dimension {self._ragged_idx} of the values has the size {size}"
            )
        if self._lengths is None and begins and begins[0] == 0 and begins[-1] + lengths[-1] == size:
            return list(self._held.split(lengths, d))
        return [self._held.narrow(d, b, n) for b, n in zip(begins, lengths)]

    def row_of_place(self) -> Tensor:
        """For every place along the ragged dimension of the values the row that has it; there must be no gaps."""
        lengths = self._offsets[1:] - self._offsets[:-1]
        return tenfold.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)

    def packed(self) -> NestedTensor:
        """The same rows without gaps; the same tensor if there are none."""
        if self._lengths is None:
            return self
        return NestedTensor.of_rows(self.rows(), None, self._ragged_idx)

    @classmethod
    def of_rows(cls, rows: list[Tensor], offsets: Tensor | None, ragged: int = 1) -> NestedTensor:
        """The nested tensor of rows, copied one behind the other."""
        lengths = [r.shape[ragged - 1] for r in rows]
        if offsets is None:
            offsets = tenfold.tensor([0, *lengths], device=rows[0].device, dtype=tenfold.int64).cumsum(0)
        return cls(
            tenfold.cat(rows, ragged - 1),
            offsets,
            _ragged_idx=ragged,
            _min_seqlen=min(lengths, default=0),
            _max_seqlen=max(lengths, default=0),
        )

    def _gradient(self, g: Tensor) -> Tensor:
        return self.like(g)

    def _root(self, g: Any) -> tuple[Tensor, Any]:
        return self._held, g._held if isinstance(g, NestedTensor) else g

    def _written(self, result: Any) -> NestedTensor:
        self._held.copy_(result._held)
        return self

    # What tensors are asked for

    @property
    def ragged_size(self) -> RaggedSize:
        """The size of the ragged dimension."""
        return size_of(self._offsets if self._lengths is None else self._lengths, self._max_seqlen)

    @property
    def shape(self) -> Any:
        return self.size()

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or that of one dimension; that of the ragged one prints as `j1`."""
        inner: list[int] = list(self._held.shape)
        inner[self._ragged_idx - 1] = self.ragged_size
        sizes = tuple.__new__(Size, (len(self._offsets) - 1, *inner))
        return sizes if dim is None else sizes[dimension(dim, len(sizes))]

    _size = property(size)

    def stride(self, dim: int | None = None) -> Any:
        """The steps between elements: those of the values, and between rows as many as a row has."""
        inner = tuple(self._held.stride())
        d = self._ragged_idx - 1
        times = max(inner[d] * 1, 1)
        rest = [s for k, s in enumerate(self._held.shape) if k != d]
        steps = (self.ragged_size * _product(rest) if times else 0, *self._outer_strides(inner, d))
        return steps if dim is None else steps[dimension(dim, len(steps))]

    def _outer_strides(self, inner: tuple[int, ...], d: int) -> list[Any]:
        """The values' strides, where a dimension outside the ragged one steps over a whole row."""
        steps: list[Any] = []
        total = self._held.shape[d]
        for k, step in enumerate(inner):
            over = step != inner[d] and total and step > inner[d] and step % (total * inner[d]) == 0 and k != d
            steps.append(self.ragged_size * (step // total) if over else step)
        return steps

    _strides = property(stride)

    def dim(self) -> int:
        """The number of dimensions, the batch included."""
        return self._held.ndim + 1

    ndim = property(dim)

    def numel(self) -> int:
        """The number of values."""
        return self._held.numel()

    nelement = numel

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the values are contiguous along rows, without gaps."""
        if self._lengths is not None and not self._fills():
            return False
        return bool(self._held.is_contiguous())

    def _fills(self) -> bool:
        """Whether rows that have lengths begin where the one before them ends."""
        begins, lengths = self.bounds()
        return all(b + n == c for b, n, c in zip(begins, lengths, begins[1:]))

    def data_ptr(self) -> int:
        """The address of the values."""
        return self._held.data_ptr()

    def storage_offset(self) -> int:
        """Where the values begin in their storage."""
        return self._held.storage_offset()

    def untyped_storage(self) -> Any:
        """The values' storage."""
        return self._held.untyped_storage()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Any:
        return iter(self.rows())

    def __getitem__(self, index: Any) -> Any:
        return JAGGED["__getitem__"](self, index if isinstance(index, tuple) else (index,))

    def tolist(self) -> Any:
        """Not for rows of different lengths."""
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor: ask each row of unbind()")

    def __repr__(self, tensor_contents: Any = None) -> str:
        return printing.text_of_jagged(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (self._held.detach(), self._offsets, self._lengths, self._ragged_idx, self.requires_grad)

    def __deepcopy__(self, memo: Any) -> Any:
        made = self.like(self._held.detach().clone())
        return made.requires_grad_(self.requires_grad)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """One tensor as large as the largest row, with `padding` where a row has no elements."""
        padded: Tensor = tenfold.nested.to_padded_tensor(self, padding, output_size)
        return padded

    def is_same_size(self, other: Any) -> bool:
        """Whether the sizes are the same, the ragged one by what says it."""
        if not isinstance(other, NestedTensor):
            raise ValueError(f"is_same_size: expected other to be a jagged layout NestedTensor, got {type(other).__name__}")
        return bool(self.shape == other.shape)


def _rebuilt(values: Tensor, offsets: Tensor, lengths: Tensor | None, ragged: int, requires_grad: bool) -> NestedTensor:
    return NestedTensor(values, offsets, lengths=lengths, _ragged_idx=ragged).requires_grad_(requires_grad)


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
