"""Ordered tables of user callbacks, and the handle that takes one out again."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

Hooks = OrderedDict[int, Callable[..., Any]]
_ids = itertools.count()


class HookHandle:
    """What registering a hook returns: `remove()` takes the hook out, and so does leaving a `with` block."""

    def __init__(self, hooks: Hooks) -> None:
        self.id = next(_ids)
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def add_hook(hooks: Hooks, hook: Callable[..., Any], prepend: bool = False) -> HookHandle:
    """Put `hook` at the end of `hooks`, or at its start, and return the handle that removes it."""
    handle = HookHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
