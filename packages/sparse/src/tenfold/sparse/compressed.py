"""Tensors whose matrices are stored by compressed rows or columns: CSR, CSC, and in blocks BSR, BSC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.compressed_sizes import Resizable
from tenfold.sparse.conversions import check_conversion
from tenfold.sparse.coo import SparseTensor, taken
from tenfold.sparse.table import answer_compressed
from tenfold.tensor.layouts import layout_name

BY_ROW = (tenfold.sparse_csr, tenfold.sparse_bsr)
BLOCKS = (tenfold.sparse_bsr, tenfold.sparse_bsc)
LAYOUTS = (tenfold.sparse_csr, tenfold.sparse_csc, tenfold.sparse_bsr, tenfold.sparse_bsc)


class CompressedTensor(Resizable):
    """Matrices by compressed rows (or columns): where each row's elements start, their columns, their values.

    `starts` (*, rows + 1), `places` (*, nnz), `values` (*, nnz, *block, *dense sizes). What autograd records, it records of
    the values. Operators reach this class by `__torch_function__`; those that do not work on values alone are carried
    out in coordinates.

    >>> import tenfold
    >>> tenfold.sparse_csr_tensor([0, 2, 3], [0, 1, 2], [1.0, 2.0, 3.0], (2, 4)) @ tenfold.ones(4, 1)
    tensor([[3.],
            [3.]])
    """

    @classmethod
    def of(cls, starts: Tensor, places: Tensor, held: Tensor, size: Any, layout: Any) -> CompressedTensor:
        """The tensor of these parts, none of which are checked."""
        made: CompressedTensor = cls._make_subclass(cls, held.detach().new_zeros(()).expand(tuple(size)))
        made._starts, made._places, made._held, made.layout = starts, places, held, layout
        made.is_sparse_csr = layout is tenfold.sparse_csr
        return made

    def become(self, other: CompressedTensor) -> CompressedTensor:
        """Take the sizes and the elements of another tensor, which is of the same layout and dtype."""
        self._array, self._storage = other._array, other._storage
        self._starts, self._places, self._held = other._starts, other._places, other._held
        return self

    def with_values(self, held: Tensor) -> CompressedTensor:
        """The tensor with other values at the same places."""
        starts, places = self._starts.to(held.device), self._places.to(held.device)
        return CompressedTensor.of(starts, places, held, self.shape, self.layout)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry an operator out on the values, or in coordinates."""
        return answer_compressed(func, args, kwargs or {})

    # What is stored

    def _of_rows(self, name: str, held: Tensor, rows: bool) -> Tensor:
        if (self.layout in BY_ROW) is not rows:
            kind = "row" if rows else "column"
            raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got {layout_name(self.layout)}")
        return held

    def crow_indices(self) -> Tensor:
        """Where each row's elements start, and at last where they end."""
        return self._of_rows("crow_indices", self._starts, True)

    def col_indices(self) -> Tensor:
        """The column of each element."""
        return self._of_rows("col_indices", self._places, True)

    def ccol_indices(self) -> Tensor:
        """Where each column's elements start, and at last where they end."""
        return self._of_rows("ccol_indices", self._starts, False)

    def row_indices(self) -> Tensor:
        """The row of each element."""
        return self._of_rows("row_indices", self._places, False)

    def values(self) -> Tensor:
        """The elements, or blocks of them."""
        return self._held

    def _values(self) -> Tensor:
        return self._held

    def _nnz(self) -> int:
        """The number of stored elements, or blocks, of a matrix."""
        return int(self._places.shape[-1])

    @property
    def blocksize(self) -> tuple[int, int]:
        """Rows and columns of a block, 1 where there are none."""
        n = self._places.ndim
        return (int(self._held.shape[n]), int(self._held.shape[n + 1])) if self.layout in BLOCKS else (1, 1)

    def sparse_dim(self) -> int:
        """The number of dimensions that have places: rows and columns."""
        return 2

    def dense_dim(self) -> int:
        """The number of dimensions of each value."""
        return self._held.ndim - self._places.ndim - (2 if self.layout in BLOCKS else 0)

    # Other layouts

    def coordinates(self) -> SparseTensor:
        """The same elements by coordinates."""
        if self._places.ndim > 1:
            return self._of_all_batches()
        counts = self._starts[1:] - self._starts[:-1]
        line = tenfold.arange(len(counts), device=counts.device).repeat_interleave(counts.to(tenfold.int64))
        at = tenfold.stack([line, self._places.to(tenfold.int64)])
        at, held = (at, self._held) if self.layout not in BLOCKS else _single(at, self._held, self.layout in BY_ROW)
        at = at if self.layout in BY_ROW else at.flip(0)
        made = SparseTensor.of(at, held, self.shape, coalesced=self.layout is tenfold.sparse_csr)
        return made if self.layout is tenfold.sparse_csr else made.coalesce()

    def _of_all_batches(self) -> SparseTensor:
        n = self.ndim - self.dense_dim()
        parts = [self.batch(i).coordinates() for i in range(len(self._places))]
        if not parts:
            return self.to_dense().to_sparse(n)  # type: ignore[return-value]
        at = [tenfold.cat([x._at.new_full((1, x._nnz()), i), x._at]) for i, x in enumerate(parts)]
        return SparseTensor.of(tenfold.cat(at, 1), tenfold.cat([x._held for x in parts]), self.shape, coalesced=True)

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """The strided tensor with the same elements."""
        if self._places.ndim == 1:
            return self.coordinates().to_dense(dtype)
        parts = [self.batch(i).to_dense(dtype) for i in range(len(self._places))]
        return tenfold.stack(parts) if parts else self._held.new_zeros(tuple(self.shape))

    def batch(self, index: int) -> CompressedTensor:
        """One of several matrices."""
        return CompressedTensor.of(
            self._starts[index], self._places[index], self._held[index], self.shape[1:], self.layout
        )  # fmt: skip

    def to_sparse(
        self, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
    ) -> Any:
        """The same elements in another sparse layout, by coordinates unless one is given."""
        target = tenfold.sparse_coo if layout is None else layout
        check_conversion(self, target, sparse_dim=sparse_dim, blocksize=blocksize, dense_dim=dense_dim)
        if target is self.layout:
            return self
        if target is tenfold.sparse_coo:
            return self.coordinates()
        if target is tenfold.strided:
            return self.to_dense()
        return self._compressed(target, blocksize)

    def _compressed(self, layout: Any, blocksize: Any) -> CompressedTensor:
        if self._places.ndim > 1:
            parts = [self.batch(i)._compressed(layout, blocksize) for i in range(len(self._places))]
            return batched(parts, layout)
        return compressed(self.coordinates(), layout, blocksize).counted_in(self._places.dtype)

    def counted_in(self, dtype: Any) -> CompressedTensor:
        """The tensor with its places in `dtype`, int32 or int64: coordinates have int64 alone."""
        starts, places = self._starts.to(dtype), self._places.to(dtype)
        return CompressedTensor.of(starts, places, self._held, self.shape, self.layout)

    def _gradient(self, g: Tensor) -> Tensor:
        return self.with_values(g)

    # What has no memory of its own

    def __getitem__(self, index: Any) -> Any:
        return taken(self, index)

    def __len__(self) -> int:
        return int(self.shape[0])

    def stride(self, dim: int | None = None) -> Any:
        """Refused: elements do not follow one another at a distance."""
        raise RuntimeError(f"Sparse {self._title()} tensors do not have strides")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Refused: elements do not follow one another at a distance."""
        raise RuntimeError(f"Sparse {self._title()} tensors do not have is_contiguous")

    def _title(self) -> str:
        return str(self.layout.name).removeprefix("sparse_").upper()

    def storage(self) -> Any:
        """Refused: there is no one block of memory."""
        raise NotImplementedError("Cannot access storage of SparseCsrTensorImpl")

    untyped_storage = storage

    def data_ptr(self) -> int:
        """Refused: there is no one block of memory."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def numpy(self, *, force: bool = False) -> Any:
        """Refused: NumPy has no such array."""
        raise TypeError(f"can't convert {layout_name(self.layout)} layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self) -> Any:
        """The elements, zeros too, as nested lists."""
        return self.to_dense().tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> CompressedTensor:
        held = self._held.detach().clone().requires_grad_(self.requires_grad)
        return CompressedTensor.of(self._starts.clone(), self._places.clone(), held, self.shape, self.layout)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return CompressedTensor.of, (self._starts, self._places, self._held, tuple(self.shape), self.layout)

    def __repr__(self, tensor_contents: Any = None) -> str:
        from tenfold.sparse.printing import text_of_compressed  # is needed when one is printed, and few are

        return text_of_compressed(self)


def _single(at: Tensor, held: Tensor, by_row: bool) -> tuple[Tensor, Tensor]:
    """Coordinates and values of the elements of blocks: line and place, whichever of them is the row."""
    H, W = held.shape[1], held.shape[2]
    rows, columns = tenfold.arange(H, device=at.device)[:, None], tenfold.arange(W, device=at.device)
    steps = (H, W) if by_row else (W, H)
    rows, columns = tenfold.broadcast_tensors(rows, columns)
    inner = (rows, columns) if by_row else (columns, rows)
    lines = (at[0] * steps[0]).reshape(-1, 1, 1) + inner[0]
    places = (at[1] * steps[1]).reshape(-1, 1, 1) + inner[1]
    return tenfold.stack([lines.flatten(), places.flatten()]), held.flatten(0, 2)


def compressed(x: Any, layout: Any, blocksize: Any = None, dense_dim: int | None = None) -> CompressedTensor:
    """A dense tensor, or one of coordinates, in a compressed layout."""
    blocksize = (blocksize, blocksize) if isinstance(blocksize, int) else blocksize
    if (layout in BLOCKS) is not (blocksize is not None):
        word = "requires" if layout in BLOCKS else "does not take"
        raise RuntimeError(f"to_sparse: conversion to {layout_name(layout)} {word} blocksize, got {blocksize}")
    dense_dim = dense_dim or 0
    if not isinstance(x, SparseTensor):
        if x.ndim - dense_dim > 2:
            return batched([compressed(part, layout, blocksize, dense_dim) for part in x], layout)
        if x.ndim - dense_dim < 2:
            raise RuntimeError(f"to_sparse: a tensor of {x.ndim} dimensions has no rows and columns to compress")
        x = x.to_sparse(2)
    x = x.coalesce()
    if x.sparse_dim() != 2:
        raise RuntimeError(f"to_sparse: conversion to {layout_name(layout)} needs 2 sparse dimensions, got {x.sparse_dim()}")
    return _in_blocks(x, layout, tuple(blocksize)) if blocksize is not None else _by_line(x._at, x._held, x.shape, layout)


def _by_line(at: Tensor, held: Tensor, size: Any, layout: Any, lines: int | None = None) -> CompressedTensor:
    """Elements at coordinates, in order of their lines."""
    line, place = at if layout in BY_ROW else (at[1], at[0])
    count = lines if lines is not None else int(size[0 if layout in BY_ROW else 1])
    if layout not in BY_ROW:
        order = tenfold.argsort(line, stable=True)
        line, place, held = line[order], place[order], held[order]
    starts = tenfold.searchsorted(line.contiguous(), tenfold.arange(count + 1, device=line.device))
    return CompressedTensor.of(starts, place.contiguous(), held, size, layout)


def _in_blocks(x: SparseTensor, layout: Any, blocksize: Sequence[int]) -> CompressedTensor:
    H, W = blocksize
    M, N = x.shape[:2]
    if H <= 0 or W <= 0 or M % H or N % W:
        raise RuntimeError(f"tensor sparse size ({M},{N}) must be divisible by given blocksize ({H},{W})")
    row, column = x._at
    keys, which = tenfold.unique((row // H) * (N // W) + column // W, return_inverse=True)
    blocks = x._held.new_zeros((len(keys) * H * W, *x._held.shape[1:]))
    blocks = blocks.index_add(0, which * (H * W) + (row % H) * W + column % W, x._held)
    held = blocks.reshape(len(keys), H, W, *x._held.shape[1:])
    at = tenfold.stack([keys // (N // W), keys % (N // W)]) if N else x._at
    lines = M // H if layout in BY_ROW else N // W
    return _by_line(at, held, x.shape, layout, lines)


def batched(parts: list[CompressedTensor], layout: Any) -> CompressedTensor:
    """Matrices that store equally many elements as one tensor."""
    if not parts:
        raise RuntimeError(f"to_sparse_{str(layout.name)[-3:]}: Expected product of batch dimensions to be non-zero.")
    if len({part._nnz() for part in parts}) != 1:
        raise RuntimeError("Expect the same number of specified elements per batch.")
    first = parts[0]
    starts, places, held = (tenfold.stack([getattr(p, n) for p in parts]) for n in ("_starts", "_places", "_held"))
    return CompressedTensor.of(starts, places, held, (len(parts), *first.shape), first.layout)
