"""The handles that remove hooks."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Self

_ids = itertools.count()


class RemovableHandle:
    """Removes a hook: `handle.remove()`, or at the end of a `with` block."""

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self._hooks, self.id = weakref.ref(hooks) if hasattr(hooks, "__weakref__") else (lambda: hooks), key

    def remove(self) -> None:
        """Stop calling the hook."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_hook(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """Store a hook under a fresh key."""
    key = next(_ids)
    hooks[key] = hook
    return RemovableHandle(hooks, key)
