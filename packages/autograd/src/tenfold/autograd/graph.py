"""The visible graph: nodes, edges, and hooks on what nodes save (PyTorch's `torch.autograd.graph`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold.autograd import engine, saved
from tenfold.autograd.mutation import allow_mutation_on_saved_tensors
from tenfold.autograd.nodes import Node
from tenfold.autograd.tape import GradientEdge, get_gradient_edge
from tenfold.dispatch.inplace import bump_version
from tenfold.tensor.tensor import Tensor
from tenfold.utils.hooks import RemovableHandle


class saved_tensors_hooks:  # noqa: N801 - PyTorch's name
    """Within the block, nodes keep `pack_hook(tensor)` for each tensor they save, and `unpack_hook` makes it again.

    >>> import tenfold
    >>> from tenfold.autograd.graph import saved_tensors_hooks
    >>> x = tenfold.tensor(3.0, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.tolist(), lambda kept: tenfold.tensor(kept)):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        self._entered = saved.hooked((self.pack_hook, self.unpack_hook))
        self._entered.__enter__()

    def __exit__(self, *exc: object) -> None:
        self._entered.__exit__(None, None, None)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - PyTorch's name
    """Within the block, tensors saved for the backward pass wait for it in the CPU's memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            return tensor.device, tensor.clone() if tensor.is_cpu else tensor.cpu()

        super().__init__(pack, lambda kept: kept[1].to(kept[0]))


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the block, setting hooks raises a RuntimeError with this message."""
    outer, saved.HOOKS.forbidden = saved.HOOKS.forbidden, error_message
    try:
        yield
    finally:
        saved.HOOKS.forbidden = outer


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted for PyTorch's programs: there are no streams on which gradients could differ."""


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Note a write that Tenfold did not see; saved tensors on this memory then refuse to be used."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        bump_version(t)


class _Gathered:
    """The gradients of several tensors, as they arrive in each backward pass."""

    def __init__(self, count: int) -> None:
        self.count, self.lock = count, threading.Lock()
        self.passes: dict[Any, list[Any]] = {}


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> Any:
    """Call `fn` with the gradients of several tensors once all have arrived in a pass ("all"), or with the first ("any").

    Tensors that a pass does not reach get None. Returns a handle whose `remove()` ends it.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    handles = [t.register_hook(hook) for t, hook in zip(tensors, _all(tensors, fn) if mode == "all" else _any(tensors, fn))]
    return _Handles(handles)


def _all(tensors: Sequence[Tensor], fn: Callable[..., None]) -> list[Any]:
    gathered = _Gathered(len(tensors))
    nodes = [t._node for t in tensors]

    def hook(i: int) -> Any:
        def arrived(g: Tensor) -> None:
            task = engine.TASKS.current
            assert task is not None, "hooks on gradients run in a backward pass"
            with gathered.lock:
                known = gathered.passes.get(task)
                if known is None:
                    known = gathered.passes[task] = [None] * gathered.count
                    task.callbacks.append(lambda: gathered.passes.pop(task, None))
                known[i] = g
                expected = sum(n in task.reached for n in nodes)
                complete = sum(x is not None for x in known) == expected
            if complete:
                fn(known)

        return arrived

    return [hook(i) for i in range(len(tensors))]


def _any(tensors: Sequence[Tensor], fn: Callable[..., None]) -> list[Any]:
    lock, seen = threading.Lock(), set[Any]()

    def arrived(g: Tensor) -> None:
        task = engine.TASKS.current
        with lock:
            if task in seen:
                return
            seen.add(task)
        assert task is not None, "hooks on gradients run in a backward pass"
        task.callbacks.append(lambda: seen.discard(task))
        fn(g)

    return [arrived] * len(tensors)


class _Handles(RemovableHandle):
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]  # fmt: skip
