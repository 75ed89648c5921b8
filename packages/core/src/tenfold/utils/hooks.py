"""`tenfold.utils.hooks`: what registering a hook gives back, for modules, tensors, graph nodes and optimizers alike."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar, Self

__all__ = ["RemovableHandle", "add_hook", "unserializable_hook"]


class RemovableHandle:
    """What every `register_*_hook` returns: `remove()` takes the hook out again, as does leaving a `with` block.

    Args: hooks_dict holds the hook under this handle's `id`; extra_dict: further dictionaries (one or a list) keyed by it.

    >>> from tenfold.utils.hooks import RemovableHandle
    >>> hooks = {}
    >>> handle = RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> hooks
    {}
    """

    next_id: ClassVar[int] = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        extras = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._owners = [_reference(owner) for owner in (hooks_dict, *extras)]
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    @property
    def hooks_dict_ref(self) -> Callable[[], Any]:
        """A function that gives the dictionary of hooks, or None when it is gone."""
        return self._owners[0]

    def remove(self) -> None:
        """Takes the hook out; a second call does nothing."""
        for reference in self._owners:
            owner = reference()
            if owner is not None:
                owner.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.id, [reference() for reference in self._owners]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.id, owners = state
        self._owners = [_reference(OrderedDict() if owner is None else owner) for owner in owners]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)


def _reference(owner: Any) -> Callable[[], Any]:
    """A weak reference where the dictionary can have one: a handle keeps no module alive."""
    return weakref.ref(owner) if isinstance(owner, OrderedDict) else lambda: owner


def add_hook(hooks: Any, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Put `hook` at the end of an ordered table of hooks, or at its start, and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Say of a hook that it may stay behind, without a warning, when its tensor is sent to another process.

    >>> @unserializable_hook
    ... def double(grad):
    ...     return 2 * grad
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f
