"""Fisher and Yates' shuffle in array operations: the same swaps, followed as links instead of carried out one by one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_FEW = 1500  # items up to which swapping them one by one is faster


def swapped(targets: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The items 0 to n - 1 after swapping positions i and targets[i] >= i for i = 0, 1, ...

    What step i moves to targets[i] is what the last earlier step aimed at position i had moved there, and so on back to a
    step whose position nobody aimed at before: links that pointer jumping follows in log(n) array operations.
    """
    if n <= _FEW:
        return _swapped_one_by_one(targets.tolist(), n)
    kind = np.int32 if n < 2**31 else np.int64
    items = np.arange(n, dtype=kind)
    aimed = np.append(targets, items[targets.size :]).astype(kind)
    source, earlier = _earlier_steps(aimed, items)
    source = np.where(source == items, earlier, source)
    source = np.where(source < 0, items, source)
    while not np.array_equal(following := source.take(source), source):
        source = following
    return np.where(earlier < 0, aimed, source.take(earlier))


def _swapped_one_by_one(targets: list[int], n: int) -> NDArray[np.int64]:
    items = list(range(n))
    for i, target in enumerate(targets):
        items[i], items[target] = items[target], items[i]
    return np.array(items, np.int64)


def _earlier_steps(aimed: Array, items: Array) -> tuple[Array, Array]:
    """For every position the last step aimed at it, for every step the last one before it with the same aim; -1 for none.

    Where steps share an aim, assignment keeps the last, and the others go through the same sieve again.
    """
    last, earlier = np.full_like(items, -1), np.full_like(items, -1)
    last[aimed] = items
    newest = last.copy()
    sieved = np.flatnonzero(last.take(aimed) != items)
    steps, aims = items.take(sieved), aimed.take(sieved)
    while steps.size:
        after = newest.take(aims)
        newest[aims] = steps
        kept = newest.take(aims) == steps
        found = np.flatnonzero(kept)
        earlier[after.take(found)] = steps.take(found)
        sieved = np.flatnonzero(~kept)
        steps, aims = steps.take(sieved), aims.take(sieved)
    return last, earlier
