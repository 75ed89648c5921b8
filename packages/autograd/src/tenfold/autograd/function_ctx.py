"""`FunctionCtx`: what the methods of a custom function call on their `ctx`."""

from __future__ import annotations

from typing import Any

from tenfold.tensor.tensor import Tensor


class FunctionCtx:
    """What a custom function's `forward` and `setup_context` call on `ctx`.

    The `ctx` itself is a node of the graph; one of this class alone serves where methods are called without a graph.

    >>> ctx = FunctionCtx()
    >>> ctx.set_materialize_grads(False)
    >>> ctx.materialize_grads
    False
    """

    def __init__(self) -> None:
        self.materialize_grads = True
        self.non_differentiable: tuple[Any, ...] = ()
        self.dirty_tensors: tuple[Any, ...] = ()
        self.to_save: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for the backward pass, with a check that nobody overwrites them."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(t).__name__}")
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward` writes in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which results have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients of results arrive as zeros (the default) or as None."""
        self.materialize_grads = value
