"""Selection among equal elements: which of several equal elements `kthvalue` names, as PyTorch's quickselect does.

Any of them would be right; naming the same one keeps results, and the elements that get the gradient, the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Longer rows take the first of the equals in a stable order: a loop in Python would be slow.
LONGEST = 512


def refine(x: Any, positions: Any, k: int, dim: int) -> Any:
    """Positions of the k-th least elements (counted from 0), looked up again in the rows where they have equals."""
    if x.shape[dim] > LONGEST:
        return positions
    rows, chosen = np.moveaxis(x, dim, -1), np.moveaxis(positions, dim, -1).copy()
    values = np.take_along_axis(rows, chosen, -1)
    for i in np.ndindex(rows.shape[:-1]):
        if np.count_nonzero(rows[i] == values[i]) > 1:
            chosen[i] = quickselect(rows[i].tolist(), k)
    return np.moveaxis(chosen, -1, dim)


def quickselect(values: list[Any], k: int) -> int:
    """Where Hoare's selection with a median-of-three pivot finds the k-th least value, NaN being the greatest.

    Source: W. Press et al., Numerical Recipes, "Selecting the Mth largest".
    """
    keys = [(v != v, v) for v in values]
    place = list(range(len(keys)))

    def swap(a: int, b: int) -> None:
        keys[a], keys[b] = keys[b], keys[a]
        place[a], place[b] = place[b], place[a]

    low, high = 0, len(keys) - 1
    while high > low + 1:
        swap((low + high) // 2, low + 1)
        for a, b in ((low + 1, high), (low, high), (low + 1, low)):
            if keys[a] > keys[b]:
                swap(a, b)
        cut, after = _partition(keys, swap, low, high)
        if cut <= k:
            low = after
        if cut >= k:
            high = cut - 1
    if high == low + 1 and keys[low] > keys[high]:
        swap(low, high)
    return place[k]


def _partition(keys: list[Any], swap: Any, low: int, high: int) -> tuple[int, int]:
    """Smaller keys before the pivot, greater ones after it: the pivot's place and the next part's start."""
    i, j, pivot = low + 1, high, keys[low]
    while True:
        i, j = i + 1, j - 1
        while keys[i] < pivot:
            i += 1
        while keys[j] > pivot:
            j -= 1
        if j < i:
            break
        swap(i, j)
    swap(low, j)
    return j, i
