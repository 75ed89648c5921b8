"""What changes the sizes of compressed matrices in place."""

from __future__ import annotations

from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.sparse.scalars import Scalars
from tenfold.tensor.layouts import layout_name


class Resizable(Scalars):
    """A tensor of compressed rows whose sizes may be changed."""

    _starts: Tensor  # (*, rows + 1)
    _places: Tensor  # (*, nnz)

    def resize_(self, *size: Any, memory_format: Any = None) -> Self:
        """Other sizes in place: new rows are empty, and elements that a smaller matrix has no room for are left out."""
        given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
        *batch, rows, columns = self._checked(tuple(given))
        for _ in range(self.ndim - 2 - len(batch)):  # of the matrices of a dimension that goes, the first stays
            self._starts, self._places, self._held = self._starts[0], self._places[0], self._held[0]
        count = min(int(self._places.shape[-1]), rows * columns)
        old = self._starts[..., : rows + 1]
        more = old.new_full((*batch, rows + 1 - old.shape[-1]), count)
        self._starts = tenfold.cat([old.clamp(max=count), more], -1)
        self._starts[..., -1] = count
        self._places, self._held = self._places[..., :count], self._held.narrow(len(batch), 0, count)
        self._array, self._storage = self._held.detach().new_zeros(()).expand((*batch, rows, columns))._array, None
        return self

    def resize_as_sparse_(self, the_template: Any, *, memory_format: Any = None) -> Self:
        """The sizes and places of another tensor of the layout, in place; the values are whatever they are."""
        if not isinstance(the_template, Resizable):
            raise RuntimeError(
                "resize_as_sparse_compressed_: src  expected sparse compressed tensor layout but got "
                f"{layout_name(the_template.layout)}"
            )
        if the_template.layout is not self.layout:
            raise RuntimeError(
                "resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self "
                f"({layout_name(self.layout)}) and source ({layout_name(the_template.layout)})"
            )
        kind = self._places.dtype
        self._starts, self._places = the_template._starts.to(kind, copy=True), the_template._places.to(kind, copy=True)
        self._held = self._held.detach().new_zeros(tuple(the_template._held.shape))
        self._array, self._storage = self._held.new_zeros(()).expand(tuple(the_template.shape))._array, None
        return self

    def _checked(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """The size, where these matrices may take it."""
        if self.layout is not tenfold.sparse_csr or len(size) < 2 or self._held.ndim != self._places.ndim:
            raise RuntimeError(
                f"torch.resize_: Only batched sparse CSR matrices are supported, but got size {list(size)} for "
                f"{layout_name(self.layout)} of {list(self.shape)}"
            )
        if size[-1] < self.shape[-1]:
            raise RuntimeError(
                "torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The original number "
                f"of columns is {self.shape[-1]} while the requested new number of columns is {size[-1]}."
            )
        gone = self.ndim - len(size)
        if gone < 0 or tuple(self.shape[gone:-2]) != size[:-2] or 0 in self.shape[:gone]:
            raise RuntimeError(
                f"resize_: matrices of {list(self.shape)} cannot become those of {list(size)}: there are not as many"
            )
        return size
