"""`torch._higher_order_ops.associative_scan`: running combinations along a dimension, in a logarithmic number of steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["associative_scan"]

_Leaves = list[Tensor]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """The running combinations of slices: y[0] = x[0], y[i] = combine_fn(y[i - 1], x[i]), for a function that associates.

    Shape: `xs` is a tensor or a tree of tensors of one size along `dim`; the result has its form and shapes.
    `combine_fn` gets two slices, without `dim`. With `reverse` the running goes from the end.

    Differs from PyTorch: both modes compute on any device; there "pointwise" needs a GPU.

    Raises: ValueError for arguments of other types; RuntimeError for a combination of another form than the slices.
    Source: G. Blelloch, "Prefix sums and their applications" (1990), section 1.2.

    >>> associative_scan(lambda a, b: a * b, tenfold.arange(1, 6), 0).tolist()
    [1, 2, 6, 24, 120]
    """
    _check(combine_fn, dim, reverse, combine_mode)
    leaves, form = tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError(f"associative_scan: xs must hold tensors only, and at least one, but got {xs!r:.100}")
    moved = [leaf.movedim(dim, 0) for leaf in leaves]
    if len({len(leaf) for leaf in moved}) != 1 or not len(moved[0]):
        sizes = [len(leaf) for leaf in moved]
        raise ValueError(f"associative_scan: all tensors must have one size of at least 1 along dim {dim}, but got {sizes}")
    if reverse:
        moved = [leaf.flip(0) for leaf in moved]

    def combine(*both: Tensor) -> tuple[Tensor, ...]:
        """Two slices, each as its leaves, to the leaves of their combination."""
        half = len(both) // 2
        found, shape = tree_flatten(combine_fn(tree_unflatten(both[:half], form), tree_unflatten(both[half:], form)))
        if shape != form:
            raise RuntimeError(f"associative_scan: combine_fn must return the form of xs, {form}, but it returned {shape}")
        for got, slice_ in zip(found, both):
            if not isinstance(got, Tensor) or got.shape != slice_.shape:
                got = tuple(got.shape) if isinstance(got, Tensor) else got
                raise RuntimeError(
                    f"associative_scan: combine_fn must keep the slices' shape {tuple(slice_.shape)}, but got {got}"
                )
        return tuple(found)

    vmap = importlib.import_module("tenfold._functorch.vmap").vmap  # of tenfold-autograd, needed by a call only
    made = _scan(vmap(combine), moved)
    if reverse:
        made = [leaf.flip(0) for leaf in made]
    return tree_unflatten([leaf.movedim(0, dim) for leaf in made], form)


def _check(combine_fn: Any, dim: Any, reverse: Any, combine_mode: Any) -> None:
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise ValueError(f"Reverse must be a bool, but got {type(reverse)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")


def _scan(combine: Callable[..., Any], xs: _Leaves) -> _Leaves:
    """Neighbours are combined and scanned, which gives the odd places; each even place is the odd one before it, and itself."""
    n = len(xs[0])
    if n == 1:
        return list(xs)
    odd = _scan(combine, list(combine(*(x[0 : n - 1 : 2] for x in xs), *(x[1::2] for x in xs))))
    even = [x[:1] for x in xs]
    if n > 2:
        later = combine(*(y[: (n - 1) // 2] for y in odd), *(x[2::2] for x in xs))
        even = [tenfold.cat([first, rest]) for first, rest in zip(even, later)]
    return [_interleaved(e, o) for e, o in zip(even, odd)]


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    """Even places and odd places of one tensor; where their number is odd, an even one is last."""
    paired = tenfold.stack([even[: len(odd)], odd], 1).flatten(0, 1)
    return tenfold.cat([paired, even[len(odd) :]])
