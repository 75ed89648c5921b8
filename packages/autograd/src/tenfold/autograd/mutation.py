"""In-place writes to tensors that nodes saved: within the context the old value is kept aside before it is overwritten."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tenfold.autograd.saved import hooked
from tenfold.dispatch.gradmode import no_grad
from tenfold.dispatch.runtime import STATE, Layer, call_inside, suspended_layers
from tenfold.tensor.tensor import Tensor


class _Handle:
    """Stands for one version of a memory's contents in the nodes that saved it."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class KeptValues(Layer):
    """The context's layer: sees each write before it happens. `cloned` are the values that had to be kept aside."""

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        # (storage, version): the handle. Tensors hold their storage, so an id stands for one as long as its handle lives.
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int], _Handle] = weakref.WeakValueDictionary()
        self.left = False

    def pack(self, tensor: Tensor) -> _Handle:
        key = (id(tensor.untyped_storage()), tensor._version)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None or handle.tensor.stride() != tensor.stride() or handle.tensor.shape != tensor.shape:
            handle = _Handle(tensor)
            self.tid_to_weakhandle[key] = handle
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        assert not self.left, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
            "recorded."
        )
        return self.cloned.get(handle, handle.tensor)

    def handle(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = kwargs.get("out")
        if out is not None:
            self._keep(out if isinstance(out, (tuple, list)) else (out,))
        if operator.name.endswith("_"):
            self._keep(args[:1])
        return call_inside(self, operator, args, kwargs)

    def _keep(self, targets: Any) -> None:
        """Copy what nodes saved of the memory that is about to be written."""
        written = {id(t._storage) for t in targets if isinstance(t, Tensor) and t._storage is not None}
        for handle in list(self.tid_to_weakhandle.values()):
            if id(handle.tensor._storage) in written and handle not in self.cloned:
                with no_grad(), suspended_layers():
                    self.cloned[handle] = handle.tensor.clone()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[KeptValues]:
    """Within the block, tensors that the backward pass needs may be written in place; it sees their old values.

    >>> import tenfold
    >>> x = tenfold.tensor(3.0, requires_grad=True)
    >>> with tenfold.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = y * y
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor(6.)
    """
    if any(isinstance(layer, KeptValues) for layer in STATE.layers):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    kept = KeptValues()
    try:
        with hooked((kept.pack, kept.unpack)), kept:
            yield kept
    finally:
        kept.left = True
        kept.cloned.clear()
        kept.tid_to_weakhandle.clear()
