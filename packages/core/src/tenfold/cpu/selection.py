"""Selection among equal elements: which of several equal elements `kthvalue`, `topk` and `mode` name, as PyTorch does.

Any of them would be right; naming the same one keeps results, and the elements that get the gradient, the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Longer rows take the first of the equals in a stable order: a loop in Python would be slow.
LONGEST = 512
STABLE = 16  # equals of shorter rows stay in their order


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


def refine_leading(x: Any, positions: Any, k: int, dim: int, largest: bool, in_order: bool) -> Any:
    """Positions of the k greatest (or least), looked up again in the rows that have equals or need no order."""
    if x.shape[dim] > LONGEST or not k:
        return positions
    rows, chosen = np.moveaxis(x, dim, -1), np.moveaxis(positions, dim, -1).copy()
    ordered = np.sort(rows, -1)
    equals = (ordered[..., 1:] == ordered[..., :-1]).any(-1)
    for i in np.ndindex(rows.shape[:-1]):
        if equals[i] or not in_order:
            found = leading(rows[i].tolist(), k, largest, in_order)
            chosen[i] = chosen[i] if found is None else found
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


def leading(values: list[Any], k: int, largest: bool, in_order: bool) -> list[int] | None:
    """Positions of the k greatest (or least) values as introselect and introsort arrange them; None: not worked out.

    Source: D. Musser, "Introspective sorting and selection algorithms" (1997).
    """
    if k * 64 <= len(values):
        return None
    # Sorted upwards by key; NaN is the greatest value.
    keys = [(not largest, 0) if v != v else (largest, -v) if largest else (False, v) for v in values]
    items = list(zip(keys, range(len(keys))))
    low, high = 0, len(items)
    while high - low > 3:
        cut = _cut(items, low, high)
        low, high = (cut, high) if cut <= k - 1 else (low, cut)
    _insert(items, low, high)
    if in_order:
        _sort(items, 0, k - 1)
    return [position for _, position in items[:k]]


def sorted_positions(values: list[Any]) -> list[int]:
    """The positions that introsort gives, equal elements in the order in which it leaves them."""
    items = list(zip([(True, 0) if v != v else (False, v) for v in values], range(len(values))))
    _sort(items, 0, len(items))
    return [position for _, position in items]


def _sort(items: list[Any], low: int, high: int) -> None:
    parts = [(low, high)]
    while parts:
        first, last = parts.pop()
        while last - first > STABLE:
            cut = _cut(items, first, last)
            parts.append((cut, last))
            last = cut
    _insert(items, low, high)


def _insert(items: list[Any], low: int, high: int) -> None:
    items[low:high] = sorted(items[low:high], key=lambda item: item[0])  # insertion keeps equals in their order


def _cut(items: list[Any], low: int, high: int) -> int:
    """Partition around the median of the second, the middle and the last item; the start of the upper part."""
    a, b, c = low + 1, low + (high - low) // 2, high - 1
    middle = _median(items, a, b, c)
    items[low], items[middle] = items[middle], items[low]
    pivot, i, j = items[low][0], low + 1, high
    while True:
        while items[i][0] < pivot:
            i += 1
        j -= 1
        while pivot < items[j][0]:
            j -= 1
        if i >= j:
            return i
        items[i], items[j] = items[j], items[i]
        i += 1


def _median(items: list[Any], a: int, b: int, c: int) -> int:
    """The position of the median of three, by strict comparisons only."""
    x, y, z = items[a][0], items[b][0], items[c][0]
    if x < y:
        return b if y < z else c if x < z else a
    return a if x < z else c if y < z else b
