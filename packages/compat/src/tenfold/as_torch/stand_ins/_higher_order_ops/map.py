"""`torch._higher_order_ops.map`: a function of each slice of tensors, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """f(x[i], *args) of each i of the first dimension, stacked there.

    Shape: `xs` is a tensor or a tree of tensors of one first size, of at least 1. Raises: RuntimeError for other `xs`.

    >>> map(lambda x, y: x * y, tenfold.arange(3), tenfold.tensor(2))
    tensor([0, 2, 4])
    """
    leaves, form = tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, Tensor) and leaf.dim() for leaf in leaves):
        raise RuntimeError(f"map: xs must hold tensors with a first dimension only, but got {xs!r:.100}")
    sizes = {len(leaf) for leaf in leaves}
    if len(sizes) != 1 or 0 in sizes:
        raise RuntimeError(f"map: all tensors of xs must have one first size of at least 1, but got {sorted(sizes)}")
    results = [f(tree_unflatten(list(slices), form), *args) for slices in zip(*leaves)]
    return tree_map(lambda *parts: tenfold.stack(parts), *results)
