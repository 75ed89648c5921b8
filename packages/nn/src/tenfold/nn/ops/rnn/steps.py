"""How a recurrence walks over packed steps.

Steps lie one after the other, (sum of batch_sizes, *), the sequences of each in the same order, longest first; a padded batch
is the special case in which every step has all sequences. Forwards, sequences that end leave from the back of the batch;
in reverse, shorter ones join there with their first state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import tenfold as tf
from tenfold.tensor.tensor import Tensor

State = tuple[Tensor, ...]  # (h,) or (h, c), each (B, H)
Walk = list[tuple[slice, int]]


def walk(batch_sizes: Sequence[int], reverse: bool) -> Walk:
    """(rows, number of sequences) of every step, in the order of calculation."""
    steps = [(slice(end - size, end), size) for end, size in zip(accumulate(batch_sizes), batch_sizes, strict=True)]
    return steps[::-1] if reverse else steps


def previous(results: Any, first: Any, batch_sizes: Sequence[int], reverse: bool) -> list[Any]:
    """The state that each step started from, in pieces to be put one after the other; for tensors and for arrays."""
    size, count = batch_sizes[0], results.shape[0]
    if size == batch_sizes[-1]:
        return [results[size:], first] if reverse else [first, results[: count - size]]
    rows = [part for part, _ in walk(batch_sizes, False)]
    if not reverse:
        return [first] + [results[r.start : r.start + n] for r, n in zip(rows, batch_sizes[1:], strict=False)]
    pieces = []
    for t, n in enumerate(batch_sizes):
        later = batch_sizes[t + 1] if t + 1 < len(batch_sizes) else 0
        pieces += [results[rows[t + 1]], first[later:n]] if later else [first[:n]]
    return pieces


def over(new: Tensor, old: Tensor) -> Tensor:
    """`old` with its first rows replaced."""
    n = new.shape[0]
    return new if n == old.shape[0] else tf.cat([new, old[n:]])


def unroll(
    step: Callable[..., tuple[State, tuple[Tensor, ...]]], from_input: Tensor, state: State, steps: Walk
) -> tuple[list[Tensor], State]:
    """Run `step(rows of from_input, *state)`, which returns the new state and what to keep: (all that was kept, last state)."""
    kept = {}
    for rows, n in steps:
        new, kept[rows.start] = step(from_input[rows], *(part[:n] for part in state))
        state = tuple(map(over, new, state))
    return [tf.cat(parts) for parts in zip(*(kept[start] for start in sorted(kept)), strict=True)], state


def unroll_back(
    step: Callable[..., tuple[State, tuple[Tensor, ...]]], grad: Tensor, kept: Sequence[Tensor], flow: State, steps: Walk
) -> tuple[list[Tensor], State]:
    """The way back: `step(gradients of the new state, *rows of kept)` returns the old state's and what to keep of the step.

    `flow` are the gradients of the last state, `grad` that of all outputs, which belongs to the first part of the state.
    """
    made = {}
    for rows, n in reversed(steps):
        current = (flow[0][:n] + grad[rows], *(part[:n] for part in flow[1:]))
        new, made[rows.start] = step(current, *(x[rows] for x in kept))
        flow = tuple(map(over, new, flow))
    return [tf.cat(parts) for parts in zip(*(made[start] for start in sorted(made)), strict=True)], flow
