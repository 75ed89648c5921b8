"""The base of tensors of other layouts: they are made of tensors, one of which has their numbers and their place in the graph."""

from __future__ import annotations

from typing import Any, Self

from tenfold.tensor.tensor import Tensor


class Holding(Tensor):
    """A tensor whose numbers are those of the tensor `_held`, which gradients reach in its stead.

    A subclass answers operators in `__torch_function__`, and makes of the gradient of `_held` its own in `_gradient`.
    """

    _asked_for_operators_alone = True  # attributes are answered here and by the subclass
    _held: Tensor

    def _gradient(self, g: Tensor) -> Tensor:
        """The tensor's gradient, made of that of `_held`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its gradient is made: define _gradient(g)")

    def _root(self, g: Any) -> tuple[Tensor, Any]:
        """The tensor at which a backward pass begins in this one's stead, and the gradient there."""
        return self.to_dense(), g.to_dense() if isinstance(g, Holding) else g

    @property
    def requires_grad(self) -> bool:
        return self._held.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._held.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Whether gradients of the values are recorded."""
        self._held.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return self._held.is_leaf

    @property
    def grad_fn(self) -> Any:
        return self._held.grad_fn

    @property
    def grad(self) -> Tensor | None:
        g = self._held.grad
        return None if g is None else self._gradient(g)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._held.grad = value._held if isinstance(value, type(self)) else value
