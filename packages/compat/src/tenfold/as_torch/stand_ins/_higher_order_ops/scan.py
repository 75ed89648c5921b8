"""`torch._higher_order_ops.scan`: a function that carries a state along a dimension and leaves a result at each place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["scan"]


def scan(combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False) -> Any:
    """(The last state, all results): state, y[i] = combine_fn(state, x[i]), from `init` on.

    Shape: `init` and `xs` are tensors or trees of tensors; slices of `xs` come without `dim`, results lie along it.
    With `reverse` it goes from the end, and y[i] stays at i. Gradients go through all steps.

    Raises: RuntimeError for what is no tensor, sizes that differ along `dim`, and a state of another form than `init`.

    >>> scan(lambda state, x: (state + x, state * x), tenfold.zeros(()), tenfold.arange(4.0))
    (tensor(6.), tensor([0., 0., 2., 9.]))
    """
    leaves, form = tree_flatten(xs)
    states, of_state = tree_flatten(init)
    if not leaves or not states or not all(isinstance(leaf, Tensor) for leaf in (*leaves, *states)):
        raise RuntimeError(f"scan: init and xs must hold tensors, and at least one each, but got {init!r:.60} and {xs!r:.60}")
    sizes = {leaf.size(dim) for leaf in leaves}
    if len(sizes) != 1 or 0 in sizes:
        raise RuntimeError(f"scan: all tensors of xs must have one size of at least 1 along dim {dim}, but got {sorted(sizes)}")
    state, results = init, []
    steps = list(zip(*(leaf.unbind(dim) for leaf in leaves)))
    for slices in reversed(steps) if reverse else steps:
        state, result = combine_fn(state, tree_unflatten(list(slices), form))
        if tree_flatten(state)[1] != of_state:
            raise RuntimeError(f"scan: combine_fn must return a state of init's form, {of_state}, but got {state!r:.100}")
        results.append(result)
    if reverse:
        results.reverse()
    return state, tree_map(lambda *parts: tenfold.stack(parts, dim), *results)
