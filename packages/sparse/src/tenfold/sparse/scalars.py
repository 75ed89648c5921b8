"""What tensors of all sparse layouts have that would else be asked of a memory that they have not: their only element, writes."""

from __future__ import annotations

from typing import Any, Self

from tenfold.tensor.holding import Holding


class Scalars(Holding):
    """A tensor without memory of its own, whose only element is found among those that are stored."""

    def item(self) -> Any:
        """The only element, as a number."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.detach().to_dense().item()

    def is_nonzero(self) -> bool:
        """Whether the only element is not zero."""
        n = self.numel()
        if n != 1:
            raise RuntimeError(f"Boolean value of Tensor with {'no values' if n == 0 else 'more than one value'} is ambiguous")
        return bool(self.item())

    def __bool__(self) -> bool:
        return self.is_nonzero()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.numpy()

    def detach_(self) -> Self:
        """Taken out of the graph, in place."""
        self._held = self._held.detach()  # which may be a part of what another tensor stores
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("Cannot assign to a sparse tensor: make one of other indices and values, or call .to_dense()")
