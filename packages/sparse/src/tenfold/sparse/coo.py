"""The tensor of coordinates: indices of the elements that are stored, and their values."""

from __future__ import annotations

from copy import deepcopy
from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.dispatch.services import SERVICES
from tenfold.sparse.conversions import check_conversion
from tenfold.sparse.resizable import Resizable
from tenfold.sparse.table import answer


class SparseTensor(Resizable):
    """A tensor that stores elements by their coordinates: `indices` (sparse_dim, nnz), `values` (nnz, *dense sizes).

    Coordinates may repeat until `coalesce()` sums them up. What autograd records, it records of the values. Operators
    reach this class by `__torch_function__`; those that would fill in the zeros are refused by name.

    >>> import tenfold
    >>> tenfold.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3)).coalesce()
    tensor(indices=tensor([[0, 1],
                           [2, 0]]),
           values=tensor([3., 9.]),
           size=(2, 3), nnz=2, layout=tenfold.sparse_coo)
    """

    layout = tenfold.sparse_coo
    is_sparse = True

    @classmethod
    def of(cls, at: Tensor, held: Tensor, size: Any, coalesced: bool = False) -> SparseTensor:
        """The tensor of these coordinates, values and sizes, none of which are checked."""
        # One element, shown everywhere, has the sizes, dtype and device that a tensor is asked for.
        size = tuple(size)
        if prod(size) * held.element_size() >= 2**63:
            raise RuntimeError(f"numel: integer multiplication overflow: a tensor of {list(size)} has too many elements")
        made: SparseTensor = cls._make_subclass(cls, held.detach().new_zeros(()).expand(size))
        return made._hold(at, held, coalesced)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry an operator out by the table of those that know sparse tensors."""
        return answer(func, args, kwargs or {})

    # What is stored

    def _indices(self) -> Tensor:
        """The coordinates, repeated ones too."""
        return self._at

    def _values(self) -> Tensor:
        """The values, of repeated coordinates too, outside the graph."""
        return self._held.detach()

    def _nnz(self) -> int:
        """The number of stored elements."""
        return int(self._at.shape[1])

    def indices(self) -> Tensor:
        """The coordinates of a coalesced tensor."""
        return self._summed("indices")._at

    def values(self) -> Tensor:
        """The values of a coalesced tensor."""
        return self._summed("values")._held

    def _summed(self, what: str) -> SparseTensor:
        if not self._is_summed:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")
        return self

    def sparse_dim(self) -> int:
        """The number of dimensions that have coordinates."""
        return int(self._at.shape[0])

    def dense_dim(self) -> int:
        """The number of dimensions of each value."""
        return self._held.ndim - 1

    def is_coalesced(self) -> bool:
        """Whether every coordinate is there once, in order."""
        return self._is_summed

    def coalesce(self) -> SparseTensor:
        """The same tensor with the values of equal coordinates summed up, in order of the coordinates."""
        if self._is_summed:
            return self
        sizes = self.shape[: self.sparse_dim()]
        keys = _keys(self._at, sizes)
        if 0 in sizes:  # there is no place that a coordinate could mean
            return SparseTensor.of(self._at[:, :0], self._held[:0], self.shape, coalesced=True)
        order, places = tenfold.unique(keys, return_inverse=True)
        held = self._held.new_zeros((len(order), *self._held.shape[1:])).index_add(0, places, self._held)
        at = tenfold.stack(unravelled(order, sizes)) if sizes else self._at[:, : len(order)]
        return SparseTensor.of(at, held, self.shape, coalesced=True)

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """The strided tensor with the same elements."""
        n = self.sparse_dim()
        sizes, rest = self.shape[:n], self.shape[n:]
        held = self._held if dtype is None else self._held.to(dtype)
        rows = 1
        for size in sizes:
            rows *= size
        filled = held.new_zeros((rows, *rest)).index_add(0, _keys(self._at, sizes), held)
        return filled.reshape(tuple(self.shape))

    def to_sparse(
        self, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
    ) -> Any:
        """Itself, or the same elements in a compressed layout."""
        target = tenfold.sparse_coo if layout is None else layout
        check_conversion(self, target, sparse_dim=sparse_dim, blocksize=blocksize, dense_dim=dense_dim)
        if target is tenfold.sparse_coo:
            return self
        return self.to_dense() if target is tenfold.strided else SERVICES.to_sparse(self, layout=layout, blocksize=blocksize)

    def to_sparse_coo(self) -> Any:
        """Itself."""
        return self

    def smm(self, mat: Tensor) -> Any:
        """The product with a dense matrix, sparse."""
        return SERVICES.smm(self, mat)

    def sspaddmm(self, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * self + alpha * mat1 @ mat2 of a sparse `mat1`, sparse."""
        return SERVICES.sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)

    def _coalesced_(self, coalesced: bool) -> SparseTensor:
        """Say whether every coordinate is there once, in order."""
        self._is_summed = coalesced
        return self

    def sparse_mask(self, mask: Any) -> Any:
        """The elements at the places of another sparse tensor, 0 where there are none."""
        return SERVICES.sparse_mask(self, mask)

    def _gradient(self, g: Tensor) -> Tensor:
        if self._is_summed:
            return SparseTensor.of(self._at, g, self.shape, True)
        # Each of the values at one coordinate has the element's gradient, which is there once.
        keys, places = tenfold.unique(_keys(self._at, self.shape[: self.sparse_dim()]), return_inverse=True)
        last = places.new_zeros(len(keys)).index_copy(0, places, tenfold.arange(len(places), device=places.device))
        return SparseTensor.of(self._at[:, last], g[last], self.shape, True)

    # What has no memory of its own

    def __getitem__(self, index: Any) -> Any:
        return taken(self, index)

    def __len__(self) -> int:
        return int(self.shape[0])

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The legacy type's name, or the tensor in another dtype."""
        return self.to(dtype) if dtype is not None else str(self._held.type()).replace("torch.", "torch.sparse.")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """No: there is no memory in which elements follow one another."""
        return False

    def stride(self, dim: int | None = None) -> Any:
        """Zeros, as PyTorch has them."""
        return (0,) * self.ndim if dim is None else 0

    def numpy(self, *, force: bool = False) -> Any:
        """Refused: NumPy has no such array."""
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self) -> Any:
        """The elements, zeros too, as nested lists."""
        return self.to_dense().tolist()

    def data_ptr(self) -> int:
        """Refused: there is no one block of memory."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def storage(self) -> Any:
        """Refused: there is no one block of memory."""
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    untyped_storage = storage

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user support the deepcopy protocol at the moment")
        held = self._held.detach().clone().requires_grad_(self.requires_grad)
        made = SparseTensor.of(self._at.clone(), held, self.shape, self._is_summed)
        made.grad = deepcopy(self.grad, memo)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _made_again, (self._at, self._held, tuple(self.shape), self._is_summed)

    def __repr__(self, tensor_contents: Any = None) -> str:
        from tenfold.sparse.printing import text_of  # is needed when one is printed, and few are

        return text_of(self)


def _made_again(at: Tensor, held: Tensor, size: tuple[int, ...], coalesced: bool) -> SparseTensor:
    return SparseTensor.of(at, held, size, coalesced)


def _keys(at: Tensor, sizes: Any) -> Tensor:
    """Each coordinate as one number: its place among the elements in order."""
    keys = at.new_zeros((at.shape[1],))
    for row, size in zip(at, sizes, strict=True):
        keys = keys * size + row
    return keys


def taken(x: Any, index: Any) -> Any:
    """`x[index]` of a sparse tensor: integers, `:` or `...` for dimensions that stay, and None for one of size 1."""
    parts = list(index) if isinstance(index, tuple) else [index]
    count = sum(part is not None and part is not ... for part in parts)
    if any(part is ... for part in parts):
        place = next(i for i, part in enumerate(parts) if part is ...)
        parts[place : place + 1] = [slice(None)] * (x.ndim - count)
    if count > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    dim = 0
    for part in parts:
        if isinstance(part, slice) and part == slice(None):
            dim += 1
        elif part is None:
            x = x.unsqueeze(dim)
            dim += 1
        else:
            x = x.select(dim, part)
    return x


def unravelled(keys: Tensor, sizes: Any) -> list[Tensor]:
    """The rows of coordinates that such numbers stand for."""
    rows = []
    for size in reversed(sizes):
        rows.append(keys.remainder(size))
        keys = keys.floor_divide(size)
    return rows[::-1]
