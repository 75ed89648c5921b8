"""What `where` leaves out of gradients: leaves remember which of their elements a backward pass was let through to."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor


def begin(root: Tensor) -> None:
    """A backward pass begins: what earlier ones let through to its leaves no longer counts."""
    for leaf in _leaves(root):
        leaf._reached = None


def reached(leaf: Any, mask: Tensor) -> Any:
    """The mask of a leaf's gradient: its own, less the elements that no `where` chose."""
    found = getattr(leaf, "_reached", None)
    return mask if found is None else mask & found


def chosen(data: Any, condition: Any) -> Any:
    """The data, at whose leaves of the same shape a gradient is there only where the condition holds.

    The gradient of an element that was not chosen is 0 here, and may be nan beneath, as that of ``x / 0`` is.
    """
    if not (data.requires_grad and tenfold.is_grad_enabled()):
        return data
    leaves = list(_leaves(data))
    result = data.view_as(data)

    def mark(_: Any) -> None:
        for leaf in leaves:
            if leaf.layout is tenfold.strided and leaf.shape == data.shape:
                leaf._reached = reached(leaf, condition.expand(tuple(leaf.shape)))

    result.register_hook(mark)
    return result


def _leaves(data: Any) -> Any:
    if data.is_leaf:
        yield data
        return
    seen, waiting = set(), [data.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield node.variable
        waiting += [parent for parent, _ in node.next_functions]
