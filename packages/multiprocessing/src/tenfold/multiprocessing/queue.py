"""`tenfold.multiprocessing.queue`: Python's queues between processes, which send tensors as handles (see `reductions`)."""

from __future__ import annotations

from multiprocessing.queues import JoinableQueue, Queue, SimpleQueue

__all__ = ["JoinableQueue", "Queue", "SimpleQueue"]
