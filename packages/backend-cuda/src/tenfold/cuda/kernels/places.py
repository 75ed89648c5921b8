"""Reading and writing at places that index arrays name (programs/places.py): whole rows where they lie together.

A call walks over a shape; of the array that is indexed each walked dimension is either one of its own, or one that indices are
for. From the strides follow the kernel, its grid and its numbers, which are kept for the next call of the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod
from typing import Any

import numpy as np

from tenfold.cuda import reports, runtime
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.conversion import clone_contiguous, may_share
from tenfold.cuda.kernels.geometry import broadcast, merged
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous

MOST_ARRAYS, MOST_DIMS = 3, 4  # for which the kernels have arguments
TILE = 2048  # elements that a program works on, in rows: of 8 bytes, where rows are copied
BLOCK = 1024  # elements of a program that goes element by element
WIDE = 2**31
WORTH = 16  # elements of a row for which indices of several shapes are brought to one
INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))
WORDS = {1: "*i8", 2: "*i16", 4: "*i32", 8: "*i64"}
Steps = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """An array of positions in one dimension of the indexed array, with its strides in bytes on the walked shape."""

    dim: int
    array: Any
    strides: Steps


@dataclass(frozen=True, slots=True)
class Places:
    """The walked shape; of each of its dimensions the indexed array's own one, None where an index has it; the indices."""

    shape: Steps
    own: tuple[int | None, ...]
    indices: tuple[Index, ...]
    wrap: bool  # whether negative positions count from the end

    def strides(self, array: Any) -> Steps:
        """Those of an array that is indexed, on the walked shape."""
        return tuple(0 if d is None else array.strides[d] for d in self.own)


def spread(shape: Sequence[int], array: Any) -> Steps:
    """An array's strides in bytes on a shape that it broadcasts to; ValueError if it does not."""
    lead = len(shape) - array.ndim
    sizes, strides = array.shape[max(-lead, 0) :], array.strides[max(-lead, 0) :]
    if array.size != prod(sizes) or any(m not in (1, n) for m, n in zip(sizes, shape[max(lead, 0) :])):
        raise ValueError(f"values of shape {list(array.shape)} do not broadcast to {list(shape)}")
    return (0,) * max(lead, 0) + tuple(0 if m == 1 else s for m, s in zip(sizes, strides))


def along(index: Any, dim: int, own: Steps) -> Places:
    """The places (i, index[i, j], j) that gather and scatter mean in an array of the shape `own`; arrays are not 0-d."""
    dim %= len(own)
    if index.dtype not in INTEGERS:
        raise TypeError("the index is of no integers")
    if index.ndim != len(own) or any(m > n for d, (m, n) in enumerate(zip(index.shape, own)) if d != dim):
        raise ValueError("the index is larger than the indexed array")
    walked = tuple(None if d == dim else d for d in range(len(own)))
    return Places(index.shape, walked, (Index(dim, index, index.strides),), False)


def selected(shape: Steps, indices: Sequence[Any]) -> Places | None:
    """The places of an advanced index without masks, on the shape of its result; None for what the kernels do not serve."""
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if not 1 <= len(given) <= MOST_ARRAYS or len(indices) > len(shape) or any(i.dtype not in INTEGERS for _, i in given):
        return None
    common = broadcast([i.shape for _, i in given])
    dims = [d for d, _ in given]
    if len(given) > 1 and prod(shape[dims[-1] + 1 :]) >= WORTH:  # whole rows, one index after the other
        given = [(d, i if i.shape == common else _copied(i, common)) for d, i in given]
    rest = [d for d in range(len(shape)) if d not in dims]
    at = dims[0] if dims[-1] - dims[0] + 1 == len(dims) else 0
    own = (*rest[:at], *(None,) * len(common), *rest[at:])
    walked = (*(shape[d] for d in rest[:at]), *common, *(shape[d] for d in rest[at:]))
    around = (0,) * at, (0,) * (len(rest) - at)
    return Places(walked, own, tuple(Index(d, i, (*around[0], *spread(common, i), *around[1])) for d, i in given), True)


def _copied(index: Any, shape: Steps) -> Any:
    now = runtime.current()
    return contiguous(now.view(index, shape, spread(shape, index), now.memory(index)[2], index.dtype))


def take(name: str, array: Any, places: Places, skipped: int | None = None) -> Any:
    """What lies at the places, as a new array; NotImplemented for more dimensions than the kernels have."""
    now = runtime.current()
    out = now.empty(places.shape, array.dtype, now.index_of(array))
    done = run("take", name, out, out.strides, array, places, skipped)
    return out if done else NotImplemented


def run(
    mode: str,
    name: str,
    near: Any,
    near_strides: Steps,
    far: Any,
    places: Places,
    skipped: int | None = None,
    least: bool = False,
    units: tuple[Steps, Steps] | None = None,
) -> bool:
    """Launch; False for more dimensions than the kernels have. `units` are other strides and steps than those of `far`."""
    if not prod(places.shape):
        return True
    now = runtime.current()
    if mode != "take":  # programs would read what others have written already
        near, near_strides = _elsewhere(near, near_strides, far, places.shape)
        indices = [_elsewhere(i.array, i.strides, far, places.shape) for i in places.indices]
        if any(found is not i.array for (found, _), i in zip(indices, places.indices)):
            apart = tuple([Index(i.dim, *found) for i, found in zip(places.indices, indices)])
            places = Places(places.shape, places.own, apart, places.wrap)
    copied = mode in ("take", "set")
    shape, far_strides = places.shape, places.strides(far) if units is None else units[0]
    steps = tuple(far.strides[i.dim] for i in places.indices) if units is None else units[1]
    walks = tuple((i.strides, i.array.dtype.itemsize) for i in places.indices)
    kinds, items = ("", ""), (near.dtype.itemsize, far.dtype.itemsize if units is None else 1)
    if not copied:
        kinds = _kind(near), "*i8" if units is not None else _kind(far)
    elif items[0] == 16:  # as pairs of words
        shape, near_strides, far_strides = (*shape, 2), (*near_strides, 8), (*far_strides, 8)
        walks, items = tuple(((*own, 0), item) for own, item in walks), (8, 8)
    align = (now.pointer(near) | now.pointer(far)) & 15
    sizes = tuple(far.shape[i.dim] for i in places.indices)
    key = (mode, shape, near_strides, far_strides, steps, sizes, walks, items, kinds, places.wrap, skipped, least)
    found = plan(*key, align & -align if align else 16)
    if found is None:
        return False
    kernel, grid, pair, numbers, signature = found
    arrays = [i.array for i in places.indices]
    arrays += [arrays[0]] * (MOST_ARRAYS - len(arrays))
    kinds = ("*i32", *pair, *["*" + TYPE_OF[a.dtype] for a in arrays])
    given = (reports.words(now), near, far, *arrays, reports.WORDS.index(name), *numbers)
    now.launch_grid(kernel, (*kinds, "i32", *signature), given, grid, now.index_of(far))
    if runtime.is_replaced():
        reports.check()
    return True


def _elsewhere(array: Any, strides: Steps, far: Any, shape: Steps) -> tuple[Any, Steps]:
    """An array and its strides on the walked shape; where it may share memory with what is written, of a copy."""
    now = runtime.current()
    if now.apart(array, far) or not may_share(array, far):
        return array, strides
    copy = clone_contiguous(now.view(array, shape, strides, now.memory(array)[2], array.dtype))
    return copy, copy.strides


def _kind(array: Any) -> str:
    """The Triton type of an array's numbers, that of unsigned ones without the sign: their sums have the same bits."""
    kind = TYPE_OF[array.dtype]
    return "*" + {"u32": "i32", "u64": "i64"}.get(kind, kind)


@lru_cache(maxsize=4096)
def plan(
    mode: str,
    shape: Steps,
    near: Steps,
    far: Steps,
    steps: Steps,
    sizes: Steps,
    walks: tuple[tuple[Steps, int], ...],
    items: tuple[int, int],
    kinds: tuple[str, str],
    wrap: bool,
    skipped: int | None,
    least: bool,
    align: int,
) -> Any:
    """(kernel, grid, types of near and far, numbers, their types); None for more dimensions than the kernels have."""
    if any(s % items[1] for s in (*far, *steps)) or any(s % items[0] for s in near):
        return None  # elements that lie at no whole distance, as views of other dtypes may
    natural = tuple(prod(shape[d + 1 :]) for d in range(len(shape)))
    arrays = ((shape, natural, 1), (shape, near, items[0]), (shape, far, items[1]), *[(shape, *w) for w in walks])
    lengths, (_, a, b, *p) = merged(shape, arrays)
    steps = tuple(s // items[1] for s in steps)
    common = (("MODE", mode), ("ARRAYS", len(walks)), ("WRAP", int(wrap)), ("LEAST", int(least)))
    more = (0,) * (MOST_ARRAYS - len(walks))
    told = (*sizes, *more), (*steps, *more)
    found = _rows(mode, lengths, a, b, p, steps, items, align) if mode != "where" else None
    if found is not None:
        counts, around, strides, (unit, word), flags, tile = found
        steps = tuple(s * items[1] // (unit * word) if word else s // unit for s in steps)
        numbers = (*counts, *around, *told[0], *steps, *more, *strides, *more, -1 if skipped is None else skipped)
        fixed = (*common, ("PAD", int(skipped is not None)), *flags, ("UNIT", unit), *zip(("ROWS", "BLOCK"), tile))
        grid = (-(-counts[0] // tile[0]), -(-counts[2] * unit // tile[1]))
        pair = (WORDS[word], WORDS[word]) if word else kinds
        return Handwritten("rows_at", fixed, 4, by_address=True), grid, pair, numbers, _types(numbers)
    if len(lengths) > MOST_DIMS or skipped is not None:
        return None
    count = prod(lengths)
    dims = tuple(reversed(lengths)) + (1,) * (MOST_DIMS - len(lengths))
    walked = [tuple(reversed(own)) + (0,) * (MOST_DIMS - len(lengths)) for own in (a, b, *p)]
    walked += [(0,) * MOST_DIMS] * (MOST_ARRAYS - len(walks))
    numbers = (count, *dims[: MOST_DIMS - 1], *[s for own in walked for s in own], *told[0], *told[1])
    wide = count + BLOCK >= WIDE
    fixed = (*common, ("DIMS", max(len(lengths), 1)), ("WIDE", int(wide)), ("BLOCK", BLOCK))
    pair = (WORDS[items[0]], WORDS[items[1]]) if mode in ("take", "set") else kinds
    return Handwritten("places_at", fixed, 4, by_address=True), (-(-count // BLOCK),), pair, numbers, _types(numbers)


def _rows(
    mode: str, lengths: Steps, near: Steps, far: Steps, indices: Sequence[Steps], steps: Steps, items: tuple[int, int], align: int
) -> Any:
    """How whole rows are walked; None where elements of a row do not lie together, or more than one dimension is indexed."""
    n = len(lengths)
    columns, spreads = 1, False
    if n and far[-1] == 1 and near[-1] in ((1,) if mode == "take" else (0, 1)) and not any(own[-1] for own in indices):
        n, columns, spreads = n - 1, lengths[-1], near[-1] == 0
    if n > 2 or (n == 2 and any(own[0] for own in indices)):
        return None
    places, batches = (lengths[n - 1] if n else 1), (lengths[0] if n == 2 else 1)
    if places * batches >= WIDE - TILE or (n and far[n - 1] and any(own[n - 1] for own in indices)):
        return None
    near_row, near_batch = (near[n - 1] if n else 0), (near[0] if n == 2 else 0)
    # Without an index of more than one element the walked dimension is the array's own: one more batch.
    if n and far[n - 1]:
        if n == 2:
            return None
        places, batches, near_row, near_batch, far_batch = 1, places, 0, near_row, far[0]
        strides = tuple(0 for _ in indices)
    else:
        far_batch = far[0] if n == 2 else 0
        strides = tuple(own[n - 1] if n else 0 for own in indices)
    moved = (columns, near_row, near_batch, far_batch, *steps)
    unit, word, scale = 1, 0, 1
    if mode in ("take", "set"):
        if spreads:
            word = items[0]
        else:
            common = gcd(align, *[s * items[0] for s in moved])
            word, unit = min(common, 8), 2 if common == 16 else 1
    else:
        unit = gcd(8, *moved) if not spreads else 1
    if word:
        around = tuple(s * items[0] // (unit * word) for s in (near_batch, near_row, far_batch))
        scale = columns * items[0] // (unit * word)
    else:
        around, scale = tuple(s // unit for s in (near_batch, near_row, far_batch)), columns // unit
    rows, width = places * batches, scale * unit
    block = _block(width)
    if -(-width // block) > 65535:
        return None
    tile = max(1, min(TILE // block, 1 << (rows - 1).bit_length())), block
    flags = (("FLAT", int(batches == 1)), ("SPREAD", int(spreads)))
    return (rows, places, scale), around, strides, (unit, word), flags, tile


def _block(width: int) -> int:
    """Columns of a program: the most of 1024 at which less than an eighth is for nothing, or else 64.

    >>> [_block(n) for n in (1, 3, 192, 384, 4096)]
    [1, 4, 64, 128, 1024]
    """
    whole = 1 << (width - 1).bit_length()
    block = min(whole, 1024)
    while block > 64 and -(-width // block) * block > width * 9 // 8:
        block //= 2
    return block


def _types(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple("i64" if abs(x) >= WIDE else "i32" for x in numbers)
