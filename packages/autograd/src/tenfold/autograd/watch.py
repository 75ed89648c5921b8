"""The switch that lets new nodes be looked at: hooks on what they save, and anomaly detection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Watch:
    """`active` counts the threads' contexts that want to see new nodes; recording tests this one number."""

    __slots__ = ("_lock", "active", "watchers")

    def __init__(self) -> None:
        self.active = 0
        self.watchers: list[Callable[[Any], None]] = []  # called with each new node; they ask their own thread's state
        self._lock = threading.Lock()

    def count(self, step: int) -> None:
        """Enter (1) or leave (-1) a context."""
        with self._lock:
            self.active += step

    def recorded(self, node: Any) -> None:
        """Called with every new node while some context is active, perhaps another thread's."""
        for watcher in self.watchers:
            watcher(node)


WATCH = Watch()
