"""Hooks under fresh keys, and the handles that remove them."""

from __future__ import annotations

from typing import Any

from tenfold.utils.hooks import RemovableHandle


def add_hook(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """Store a hook under a fresh key."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
