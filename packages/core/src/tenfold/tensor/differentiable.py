"""A tensor in the graph of gradients: whether it asks for one, the one it has, hooks on it. autograd does the work."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.dispatch.spellings import as_bool
from tenfold.tensor.conversions import Conversions


class Differentiable(Conversions):
    """What a tensor is to gradients: a part of `Tensor`."""

    __slots__ = ()

    @property
    def requires_grad(self: Any) -> bool:
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self: Any, value: bool) -> None:
        if type(value) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self: Any) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        """Ask autograd to record operators on this leaf (or no longer)."""
        if type(requires_grad) is not bool:
            as_bool(requires_grad, "requires_grad_", "value")  # type: ignore[unreachable]
        node = self._node
        wrapped = self._key.level is not None and not self._key.transform.by_hand
        if wrapped or (node is not None and SERVICES.autograd().is_transformed(node)):
            raise RuntimeError(
                "You are attempting to call Tensor.requires_grad_() inside of a function being transformed by grad, vmap or "
                "another of tenfold.func. This is unsupported: they differentiate by the function's arguments."
            )
        if requires_grad:
            if not (self.is_floating_point() or self.is_complex()):
                raise RuntimeError(
                    f"only Tensors of floating point dtype can require gradients, and complex ones; this one is {self.dtype.name}"
                )
            if self.is_inference() and not STATE.inference:
                raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
            if node is None or node.of_base:
                self._node = SERVICES.autograd().leaf(self)
                if self._storage is not None:
                    self._storage.guarded = True  # writes to views made before must be looked at from now on
        elif node is not None:
            if not node.is_leaf:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            SERVICES.autograd().rest(self)
        return self

    @property
    def is_leaf(self: Any) -> bool:
        return self._node is None or bool(self._node.is_leaf)

    @property
    def grad_fn(self: Any) -> Any:
        """The graph node that made this tensor; None for leaves."""
        node = self._node
        return None if node is None or node.is_leaf else node.shown

    @property
    def output_nr(self: Any) -> int:
        return 0 if self._node is None else int(self._node.output_nr)

    @property
    def grad(self: Any) -> Any:
        """The gradient that `backward` accumulated."""
        try:
            return self._grad
        except AttributeError:
            if self._node is not None and not self._node.is_leaf and not self.retains_grad:
                warnings.warn(
                    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
                    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
                    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
                    "you access the leaf Tensor instead.",
                    UserWarning,
                    stacklevel=2,
                )
            return None

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        if value is not None:
            if not hasattr(value, "_array"):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value.shape != self.shape:
                raise RuntimeError(
                    f"assigned grad has data of a different size: {list(value.shape)}, expected {list(self.shape)}"
                )
            if value.dtype is not self.dtype:
                raise RuntimeError(f"assigned grad has data of a different type: {value.dtype}, expected {self.dtype}")
            if value._key.device is not self._key.device:
                raise RuntimeError(
                    f"assigned grad has data located on a different device: {value.device}, expected {self.device}"
                )
        self._grad = value

    @grad.deleter
    def grad(self: Any) -> None:
        self._grad = None

    def backward(
        self: Any, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this tensor with respect to the graph's leaves to their `.grad`."""
        SERVICES.autograd().backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self: Any, hook: Any) -> Any:
        """Call `hook(grad)` when this tensor's gradient is computed; what it returns replaces the gradient."""
        return SERVICES.autograd().register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self: Any, hook: Any) -> Any:
        """Call `hook(tensor)` after a backward pass has updated this leaf's `.grad`."""
        return SERVICES.autograd().register_post_accumulate_hook(self, hook)

    def retain_grad(self: Any) -> None:
        """Keep `.grad` of this non-leaf tensor too."""
        SERVICES.autograd().retain_grad(self)

    @property
    def retains_grad(self: Any) -> bool:
        return self._node is not None and not self._node.is_leaf and bool(self._node.retains(self))
