"""What tensors of all sparse layouts have that would else be asked of a memory that they lack: gradients, their only element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from tenfold.dispatch.services import SERVICES
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import Tensor


class Scalars(Holding):
    """A tensor without memory of its own, whose only element is found among those that are stored."""

    _assigned: Any = None  # a gradient that was given, at places of its own; that of the values comes to it

    @property
    def grad(self) -> Any:
        """The gradient: what was assigned, and what backward passes have added since."""
        added = self._held.grad
        if added is None:
            return self._assigned
        gradient = self._gradient(added)
        if self._assigned is None:
            return gradient
        self._held.grad, self._assigned = None, self._assigned + gradient
        return self._assigned

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            for what, given, own in (("size", value.shape, self.shape), ("type", value.dtype, self.dtype)):
                if given != own:
                    raise RuntimeError(f"assigned grad has data of a different {what}: {given}, expected {own}")
        self._held.grad, self._assigned = None, value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Any:
        """The same values at the same places, outside the graph."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined] # a property

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call `hook` with the gradient, of this layout; what it returns, sparse or dense, takes its place."""

        def of_values(g: Tensor | None) -> Tensor | None:
            made = hook(None if g is None else self._gradient(g))
            return None if made is None else self._values_at(made)

        return self._held.register_hook(of_values)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """Call `hook` with this leaf, each time a backward pass has added to its gradient."""
        return self._held.register_post_accumulate_grad_hook(lambda _: hook(self))

    def _values_at(self, g: Any) -> Tensor:
        """The elements of a gradient at the places of the values."""
        x = self.detach().requires_grad_(True)
        with SERVICES.autograd().enable_grad():
            dense = x.to_dense()
        (found,) = SERVICES.autograd().grad(dense, x._held, g.to_dense() if isinstance(g, Holding) else g)
        return found  # type: ignore[no-any-return]

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is no leaf in `grad`."""
        self._held.retain_grad()

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called."""
        return self._held.retains_grad

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
