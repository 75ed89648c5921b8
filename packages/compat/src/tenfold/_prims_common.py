"""`torch._prims_common`: what libraries ask of it about a tensor's layout."""

from __future__ import annotations

from collections.abc import Iterable

import tenfold
from tenfold import Tensor, memory_format


def suggest_memory_format(x: Tensor) -> memory_format:
    """The format whose strides a tensor of four or five dimensions has.

    >>> suggest_memory_format(tenfold.ones(2, 3, 4, 4).to(memory_format=tenfold.channels_last)) is tenfold.channels_last
    True
    """
    last = {4: tenfold.channels_last, 5: tenfold.channels_last_3d}.get(x.dim())
    channels_last = last is not None and not x.is_contiguous() and x.is_contiguous(memory_format=last)
    return last if channels_last and last is not None else tenfold.contiguous_format


def is_contiguous_or_false(a: Tensor) -> bool:
    """Whether a tensor is contiguous, which is always known here."""
    return a.is_contiguous()


is_contiguous = is_contiguous_or_false


def make_contiguous_strides_for(shape: Iterable[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of a contiguous tensor; with `row_major=False` of one whose matrices lie column by column.

    >>> make_contiguous_strides_for((2, 3, 4)), make_contiguous_strides_for((2, 3, 4), row_major=False)
    ((12, 4, 1), (12, 1, 3))
    """
    sizes, step, strides = tuple(shape), 1, []
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    if not row_major and len(sizes) > 1:
        strides[:2] = [max(sizes[-2], 1), 1]
    return tuple(reversed(strides))
