"""Which of several nodes that are ready runs next: the one made last, as in PyTorch, whose programs lean on it."""

from __future__ import annotations

from functools import lru_cache
from heapq import heappush
from typing import Any

from tenfold.autograd.nodes import LEAF, PLACE

Waiting = list[tuple[int, int, Any, Any]]  # a heap: less its number, something to tell apart, a node, its gradient


def in_order(edges: tuple[Any, ...], ready: list[Any]) -> list[Any]:
    """The nodes that have become ready, as the last edge to each came."""
    last = {node: place for place, node in enumerate(edges)}
    return sorted(ready, key=lambda entry: last[entry[0]])


def arrange(fresh: list[Any], leaves: list[Any], waiting: Waiting, arrive: Any) -> None:
    """Put nodes that have become ready where they wait: leaves with the first one last, others on the heap.

    `arrive` takes a gradient to the node that has several results, and returns that node, with its gradient, once it is ready.
    """
    below = len(waiting)
    fresh[:] = [ready for n, g in fresh if (ready := arrive(n, g) if n._number == PLACE else (n, g)) is not None]
    for node, g in fresh:
        if node._number == LEAF:
            leaves.append((node, g))
        else:
            heappush(waiting, (-node._number, id(node), node, g))
    order = _order_of_equals(below, tuple([n._number == LEAF for n, _ in fresh]))
    leaves[:] = [leaves[i - 1] for i in reversed(order)]
    fresh.clear()


@lru_cache(maxsize=1024)
def _order_of_equals(below: int, kinds: tuple[bool, ...]) -> list[int]:
    """The order in which leaves, counted from 1, leave PyTorch's queue: the binary heap of its C++ library.

    They are equal there, and a heap does not keep equals in order. `below` nodes were in it before; `kinds` says of those
    that came, one after the other, which are leaves.
    """
    heap, count = [0] * below, 0  # 0 stands for what is no leaf
    for leaf in kinds:
        count += leaf
        heap.append(0)
        _rise(heap, len(heap) - 1, count if leaf else 0)
    order = []
    while heap and heap[0]:
        order.append(heap[0])
        last = heap.pop()
        if heap:
            _rise(heap, _sink(heap), last)
    return order


def _rise(heap: list[int], hole: int, item: int) -> None:
    while hole and item and not heap[(hole - 1) // 2]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item


def _sink(heap: list[int]) -> int:
    """Move the hole at the top to the bottom, along the greater children: the second where both are alike."""
    hole = 0
    while (child := 2 * hole + 2) < len(heap):
        if heap[child - 1] and not heap[child]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if child == len(heap):
        heap[hole] = heap[child - 1]
        hole = child - 1
    return hole
