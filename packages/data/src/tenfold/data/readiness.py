"""Which of some connections can be read: the same few are waited for once per batch."""

from __future__ import annotations

import select
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait

_POLLS = hasattr(select, "poll")  # not on Windows


class Readiness:
    """Waits for connections again and again.

    `multiprocessing.connection.wait` makes a selector and registers each connection at every call: 60 us, beside which a
    worker loads a small batch in 180.

    >>> from multiprocessing import Pipe
    >>> source, sink = Pipe(duplex=False)
    >>> watch = Readiness()
    >>> watch.wait([source], 0.0)
    []
    >>> sink.send(1)
    >>> watch.wait([source], None) == [source]
    True
    """

    def __init__(self) -> None:
        self._watched: dict[int, Connection] = {}
        self._poll = select.poll() if _POLLS else None

    def wait(self, connections: Sequence[Connection], timeout_s: float | None) -> Sequence[Connection]:
        """Those that have something to read or have ended, none when the time is up."""
        if self._poll is None:
            return wait(connections, timeout_s)  # type: ignore[return-value] # connections in, connections out
        self._watch(connections, self._poll)
        found = self._poll.poll(None if timeout_s is None else timeout_s * 1000)
        return [self._watched[descriptor] for descriptor, _ in found]

    def _watch(self, connections: Sequence[Connection], poll: select.poll) -> None:
        now = {connection.fileno(): connection for connection in connections}
        if now != self._watched:
            for descriptor in self._watched:
                poll.unregister(descriptor)
            for descriptor in now:
                poll.register(descriptor, select.POLLIN)
            self._watched = now
