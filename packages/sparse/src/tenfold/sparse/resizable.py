"""What changes the sizes of a tensor of coordinates in place, and makes tensors like it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.dispatch.services import SERVICES
from tenfold.sparse.scalars import Scalars


class Resizable(Scalars):
    """A tensor of coordinates whose sizes and number of dimensions may be changed."""

    _at: Tensor  # (sparse_dim, nnz), int64
    _held: Tensor  # (nnz, *dense sizes)
    _is_summed: bool

    def _hold(self, at: Tensor, held: Tensor, coalesced: bool) -> Self:
        self._at, self._held, self._is_summed = at, held, coalesced
        return self

    def become(self, other: Any) -> Self:
        """Take the sizes and the elements of another tensor, which is of the same dtype."""
        self._array, self._storage = other._array, other._storage
        return self._hold(other._at, other._held, other._is_summed)

    def _dimI(self) -> int:
        return int(self._at.shape[0])

    def _dimV(self) -> int:
        return self._held.ndim - 1

    def sparse_resize_(self, size: Any, sparse_dim: int, dense_dim: int) -> Self:
        """Other sizes in place. A tensor that has elements keeps its numbers of dimensions and may only grow."""
        size = tuple(size)
        if sparse_dim + dense_dim != len(size):
            raise RuntimeError(
                f"sparse_resize_: number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim ({dense_dim}), "
                f"but got {len(size)}"
            )
        if self._at.shape[1]:
            self._refuse_shrinking(size, sparse_dim, dense_dim)
        at, held = self._at, self._held
        at = at if len(at) == sparse_dim else at.new_zeros((sparse_dim, at.shape[1]))
        if tuple(held.shape[1:]) != size[sparse_dim:]:
            held = _filled_up(held, (held.shape[0], *size[sparse_dim:]))
        self._array, self._storage = held.detach().new_zeros(()).expand(size)._array, None
        return self._hold(at, held, self._is_summed)

    def _refuse_shrinking(self, size: tuple[int, ...], sparse_dim: int, dense_dim: int) -> None:
        n = self._dimI()
        why = "on a non-empty sparse tensor is not supported: call zero_() first, or make a new tensor of its parts"
        for kind, have, want in (("sparse", n, sparse_dim), ("dense", self._dimV(), dense_dim)):
            if have != want:
                raise RuntimeError(f"changing the number of {kind} dimensions (from {have} to {want}) {why}")
        old = tuple(self.shape)
        for kind, before, after in (("sparse", old[:n], size[:n]), ("dense", old[n:], size[n:])):
            if any(new < had for had, new in zip(before, after, strict=True)):
                raise RuntimeError(f"shrinking the size of {kind} dimensions (from {list(before)} to {list(after)}) {why}")

    def sparse_resize_and_clear_(self, size: Any, sparse_dim: int, dense_dim: int) -> Self:
        """Other sizes and numbers of dimensions in place, without elements."""
        empty = SERVICES.without_elements(
            size, tenfold.sparse_coo, dtype=self.dtype, device=self.device, sparse_dim=sparse_dim
        )  # fmt: skip
        if sparse_dim + dense_dim != len(size):
            raise RuntimeError(f"sparse_resize_and_clear_: {sparse_dim} and {dense_dim} dimensions are not {len(size)}")
        return self.become(empty)

    def resize_as_(self, the_template: Any, *, memory_format: Any = None) -> Self:
        """The sizes of another sparse tensor, in place."""
        return self.sparse_resize_(the_template.shape, the_template.sparse_dim(), the_template.dense_dim())

    resize_as_sparse_ = resize_as_

    def resize_(self, *size: Any, memory_format: Any = None) -> Self:
        """Refused, as by PyTorch: sizes alone do not say which of them have coordinates."""
        raise NotImplementedError(
            "Could not run 'aten::resize_' with arguments from the 'SparseCPU' backend: use sparse_resize_(size, sparse_dim, "
            "dense_dim)"
        )

    def new(self, *data: Any, size: Any = None, device: Any = None) -> Any:
        """A sparse tensor of the same dtype: of sizes, or of indices, values and perhaps sizes (PyTorch's legacy form)."""
        if device is not None and tenfold.device(device).type != self.device.type:
            raise RuntimeError(f"legacy constructor expects device type: {self.device.type} but device type: {device} was passed")
        data = data if size is None else (*data, tenfold.Size(size))
        if len(data) in (2, 3) and all(isinstance(d, Tensor) for d in data[:2]):
            if data[1].dtype is not self.dtype:
                raise RuntimeError(f"new(): expected values of {self.dtype}, got {data[1].dtype}")
            return tenfold.sparse_coo_tensor(*data, device=self.device)
        if len(data) == 1 and isinstance(data[0], (list, tuple)) and not isinstance(data[0], tenfold.Size):
            raise TypeError("SparseTensor.new(sequence) only accepts sizes: use sparse_coo_tensor() or a tensor's to_sparse()")
        sizes = data[0] if len(data) == 1 and isinstance(data[0], tenfold.Size) else data or (0,)
        if not all(isinstance(n, int) for n in sizes):
            kinds = ", ".join(type(d).__name__ for d in data)
            raise TypeError(
                f"new() received an invalid combination of arguments - got ({kinds}), expected sizes, or indices and values"
            )
        return SERVICES.without_elements(sizes, tenfold.sparse_coo, dtype=self.dtype, device=self.device)


def _filled_up(held: Tensor, shape: Sequence[int]) -> Tensor:
    """Values in more room: in memory they stay one behind the other, as when a strided tensor is resized."""
    flat = held.new_zeros(prod(shape))
    flat[: held.numel()] = held.reshape(-1)
    return flat.reshape(tuple(shape))
