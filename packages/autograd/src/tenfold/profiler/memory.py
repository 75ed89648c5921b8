"""Which memory the results of calls take, and when it is freed: the profiler's account of allocations."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tenfold.profiler.events import Event
from tenfold.tensor.tensor import Tensor

CATEGORIES = ("parameter", "input", "activation", "gradient", "temporary")


@dataclass(slots=True)
class Block:
    """One block of memory: when it came to be, or was first met, and was freed (None: not yet)."""

    size_bytes: int
    start_us: float
    is_made: bool  # whether a call was seen to make it; else it was met as an argument
    end_us: float | None = None
    in_backward: bool = False
    is_parameter: bool = False
    device: str = "cpu"


class Account:
    """The blocks of memory that tensors lay in while the profiler ran.

    What a kernel takes and frees inside of itself is not seen.
    """

    def __init__(self, now_us: Any) -> None:
        self.now_us, self.blocks = now_us, list[Block]()
        self.backward_us: list[float] = []  # when backward passes began
        self.open: Any = None  # the event under way, whose account frees go to
        self._known: dict[int, tuple[Block, Any]] = {}

    def saw(self, values: Any, in_backward: bool) -> None:
        """Note arguments: what was not made by a call seen here was there before, or came by another way."""
        for tensor in tensors_in(values):
            self._note(tensor, False, in_backward)

    def made(self, event: Event, values: Any, in_backward: bool) -> None:
        """Note results; the event gets the bytes that they take anew."""
        for tensor in tensors_in(values):
            block = self._note(tensor, True, in_backward)
            if block is not None:
                count(event, block, block.size_bytes)

    def _note(self, tensor: Tensor, is_made: bool, in_backward: bool) -> Block | None:
        if tensor._key.level is not None:
            return None
        owner, size, _ = tensor._key.backend.memory(tensor._array)
        if id(owner) in self._known or not size:
            return None
        node, device = tensor._node, tensor._key.backend.name
        block = Block(int(size), self.now_us(), is_made, None, in_backward, node is not None and node.is_leaf, device)
        try:
            watch: Any = weakref.ref(owner, partial(self._freed, id(owner)))
        except TypeError:  # memory of a kind that cannot be watched is taken to stay
            watch = owner
        self._known[id(owner)] = block, watch
        self.blocks.append(block)
        return block

    def _freed(self, key: int, dead: Any) -> None:
        block, _ = self._known.pop(key)
        block.end_us = self.now_us()
        if self.open is not None and block.is_made:
            count(self.open, block, -block.size_bytes)

    def stop(self) -> None:
        """Watch no more."""
        self._known.clear()
        self.open = None

    def category(self, block: Block) -> str:
        """What the memory was for, by where it came to be and how long it lived."""
        if not block.is_made and not (block.in_backward and not block.is_parameter):
            return "parameter" if block.is_parameter else "input"
        if block.in_backward:
            return "gradient" if block.end_us is None else "temporary"
        kept = any(block.start_us <= t and (block.end_us is None or block.end_us > t) for t in self.backward_us)
        return "activation" if kept else "temporary"

    def timeline(self) -> tuple[list[float], list[list[int]]]:
        """Times in microseconds, and for each the bytes of every category from then on."""
        steps: list[tuple[float, int, int]] = []
        for block in self.blocks:
            place = CATEGORIES.index(self.category(block))
            steps.append((block.start_us, place, block.size_bytes))
            if block.end_us is not None:
                steps.append((block.end_us, place, -block.size_bytes))
        times, sizes, now = [], list[list[int]](), [0] * len(CATEGORIES)
        for time_us, place, size in sorted(steps):
            now[place] += size
            times.append(time_us)
            sizes.append(list(now))
        return times, sizes

    def peak_bytes(self) -> int:
        """The most memory that was there at once."""
        return max((sum(row) for row in self.timeline()[1]), default=0)


def count(event: Event, block: Block, size_bytes: int) -> None:
    """Add to an event's account of the memory that a block is of."""
    if block.device == "cpu":
        event.self_cpu_memory_usage += size_bytes
    else:
        event.self_device_memory_usage += size_bytes
        event.use_device = block.device


def tensors_in(values: Any) -> Iterator[Tensor]:
    """The tensors among arguments or results."""
    if isinstance(values, Tensor):
        if hasattr(values, "_array"):
            yield values
    elif isinstance(values, dict):
        yield from tensors_in(tuple(values.values()))
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors_in(value)


__all__ = ["CATEGORIES", "Account", "Block", "count", "tensors_in"]
