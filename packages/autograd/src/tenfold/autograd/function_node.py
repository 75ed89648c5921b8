"""The graph node of a custom function, which is the `ctx` that its methods get."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tenfold.autograd.function_ctx import FunctionCtx
from tenfold.autograd.nodes import NUMBERS, RELEASED, Node
from tenfold.autograd.pytree import flatten, unflatten
from tenfold.autograd.recording import alias, modified, restore, restore_output, second_time
from tenfold.autograd.saved import Packed, current_hooks, raw_saved
from tenfold.autograd.seen import seen
from tenfold.dispatch.gradmode import enable_grad
from tenfold.dispatch.inplace import _broadcasts_to
from tenfold.ops.creation.factories import zeros
from tenfold.tensor.tensor import Tensor


def deprecated_saved_variables(ctx: Any) -> tuple[Any, ...]:
    """What `ctx.saved_variables` was before it was called `saved_tensors`."""
    warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
    return tuple(ctx.saved_tensors)


class FunctionNode(Node, FunctionCtx):
    """The graph node of a custom function, and the `ctx` that its methods get."""

    # No __slots__: a ctx takes any attribute.
    _function: Any
    is_multiple = False

    def __init__(self) -> None:
        FunctionCtx.__init__(self)
        self._next, self._shape, self._extra, self._number = (), (), None, next(NUMBERS)
        self.needs_input_grad: tuple[bool, ...] = ()
        self._materialize_non_diff_grads = True
        self._differentiable: tuple[bool, ...] = ()
        self._saved: Any = ()

    @property
    def _output_places(self) -> Sequence[int]:
        """All that forward returned counts as an output, as `backward` takes a gradient for each."""
        return range(len(self._shape)) if self.is_multiple else (0,)

    # What backward reads

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors; RuntimeError after they were freed or overwritten."""
        if self._saved is RELEASED:
            raise second_time(self)
        found = []
        for tensor, version, place in self._saved:
            if type(tensor) is Packed:
                tensor = tensor.tensor()
            elif tensor is not None and tensor._version != version:
                raise modified(self, "saved tensor", tensor, version)
            found.append(tensor if place is None else self._restored(tensor, place))
        return tuple(found)

    def _restored(self, tensor: Any, place: int) -> Any:
        """A saved result in its place of the graph, in whatever mode: a backward pass may begin to record by itself."""
        with enable_grad():
            if not self.is_multiple:
                return restore(tensor, self)
            return restore_output(tensor, self, place) if self._differentiable[place] else tensor

    saved_variables = property(deprecated_saved_variables)

    def for_jvp(self) -> Any:
        """A context in which `saved_tensors` are those that were saved for `jvp`."""
        return _SavedForForward(self)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        if self._saved is RELEASED:
            raise second_time(self)
        return tuple(raw_saved(self, "saved", i) for i in range(len(self._saved)))

    def set_saved_hooks(self, field: str, position: int | None, hooks: Any) -> None:
        """Hand one saved tensor to a pair of hooks."""
        if self._saved is RELEASED:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed.")
        assert position is not None
        value, version, place = self._saved[position]
        if type(value) is Packed:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set.")
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        self._saved[position] = (Packed(value, hooks, place is not None), version, place)

    def _keep(self, outputs: tuple[Any, ...]) -> None:
        kept: list[Any] = []
        hooks = current_hooks()
        for t in self.to_save:
            # Which of the results it is, if any
            place = None if t is None else next((i for i, o in enumerate(outputs) if o is t), None)
            value = t if place is None else alias(t)
            if hooks is not None and value is not None:
                kept.append((Packed(value, hooks, place is not None), None, place))
                continue
            kept.append((value, 0 if t is None or t._storage is None else t._storage.version, place))
        self._saved, self.to_save = kept, ()

    def release(self) -> None:
        self._saved = RELEASED

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        gs = seen(self._materialized(g) if isinstance(g, list) else [g])
        results = self._function._own_backward()(self, *gs)
        if not isinstance(results, tuple):
            results = (results,)
        expected = len(self._next)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {type(self).__name__} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})"
            )
        for i, (n, r) in enumerate(zip(self._next, results)):
            if r is not None and not isinstance(r, Tensor):
                raise TypeError(
                    f"function {type(self).__name__} returned {type(r).__name__} as gradient {i}, expected a Tensor or None"
                )
            if r is not None and n is not None:
                self._check_shape(i, n, r)
        return results

    def _check_shape(self, i: int, n: Any, r: Any) -> None:
        if n.is_multiple or tuple(r.shape) == tuple(n._shape):
            return
        if not _broadcasts_to(tuple(n._shape), tuple(r.shape)):
            raise RuntimeError(
                f"Function {type(self).__name__} returned an invalid gradient at index {i} - got {list(r.shape)} but expected "
                f"shape compatible with {list(n._shape)}"
            )

    def _materialized(self, gs: list[Any]) -> list[Any]:
        if not self.materialize_grads:
            return gs
        made = []
        shapes: Any = self._shape  # of several outputs: (shape, dtype, device) for each tensor
        for i, (g, described) in enumerate(zip(gs, shapes)):
            if g is None and described is not None and (self._materialize_non_diff_grads or self._differentiable[i]):
                shape, dtype, device = described
                g = zeros(shape, dtype=dtype, device=device)
            made.append(g)
        return made


class _SavedForForward:
    """The extent of a call of `jvp`."""

    def __init__(self, ctx: FunctionNode) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.kept = self.ctx._saved
        self.ctx._saved = [(t, None if t is None else t._version, None) for t in getattr(self.ctx, "saved_for_forward", ())]

    def __exit__(self, *exc: object) -> None:
        self.ctx._saved = self.kept


class NestedNode(FunctionNode):
    """The node of a function of nested containers: its methods take them."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep containers of tensors for the backward pass."""
        leaves, self._saved_shape = flatten(tensors)
        super().save_for_backward(*leaves)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, nested as it was."""
        return tuple(unflatten(super().saved_tensors, self._saved_shape))

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward_extended` writes in place."""
        super().mark_dirty(*flatten(tensors)[0])

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which results have no gradient."""
        super().mark_non_differentiable(*flatten(tensors)[0])
