"""Joining and rearranging: up to eight arrays in one launch, triangles of matrices, and what is written block by block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import gcd, prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.conversion import clone_contiguous, write
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous
from tenfold.cuda.kernels.places import WORDS
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op
from tenfold.types.memory_format import contiguous_format, preserve_format, suggested_format

PARTS = 8  # arrays of a launch
TILE = 2048  # elements of a program
FAR = 2**31 - TILE  # rows or columns of a triangle beyond which its places, and sums of both, have 64 bits
NEVER = 2**31  # the program at which a part begins that there is not
ROLLED, BLOCK = 5, 512  # dimensions of the kernel that rolls them, and elements of a program
MOST = 65535  # programs of a grid's second dimension


@kernel(op.cat, device="cuda", plays=True)
def cat(tensors: Any, dim: int) -> Any:
    parts = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    first = parts[0]
    if first.shape == (0,):  # all of them, whatever the dimension, as PyTorch has it for old programs
        dim = 0
    if not -first.ndim <= dim < first.ndim:
        raise IndexError(dim)
    dim %= first.ndim
    rest = first.shape[:dim] + first.shape[dim + 1 :]
    if any(a.shape[:dim] + a.shape[dim + 1 :] != rest or a.ndim != first.ndim for a in parts):
        raise ValueError("cat: shapes differ")
    formats = {suggested_format(a) for a in tensors} if first.ndim in (4, 5) else {contiguous_format}
    order = formats.pop().order if len(formats) == 1 else ()
    if order:  # channels last, where all parts have them so
        return _cat([a.transpose(order) for a in parts], order.index(dim)).transpose(np.argsort(order).tolist())
    return _cat(parts, dim)


def _cat(parts: Sequence[Any], dim: int) -> Any:
    """The parts one after the other, row by row."""
    now, first = runtime.current(), parts[0]
    shape = (*first.shape[:dim], sum(a.shape[dim] for a in parts), *first.shape[dim + 1 :])
    out = now.empty(shape, first.dtype, now.index_of(first))
    _fill(out, [a for a in parts if a.size], dim)
    return out


def _fill(out: Any, parts: Sequence[Any], dim: int) -> None:
    """Write the parts one after the other: those whose rows lie together many at a time."""
    group: list[tuple[Any, int]] = []
    start, begin = 0, 0  # along the dimension: of this part, and of the group
    for part in parts:
        row = _row_stride(part, dim)
        if row is None or part.dtype != out.dtype:
            _join(out, group, dim, begin)
            write(out[(*(slice(None),) * dim, slice(start, start + part.shape[dim]))], part)
            group, begin = [], start + part.shape[dim]
        else:
            group.append((part, row))
        start += part.shape[dim]
        if len(group) == PARTS:
            _join(out, group, dim, begin)
            group, begin = [], start
    _join(out, group, dim, begin)


def _row_stride(part: Any, dim: int) -> int | None:
    """Bytes from one row, of all from a dimension on, to the next; None where rows do not lie together or not evenly.

    >>> _row_stride(np.zeros((2, 3, 4)), 1), _row_stride(np.zeros((2, 3, 4))[:, :, ::2], 1)
    (96, None)
    """
    step = part.dtype.itemsize
    for n, s in zip(part.shape[dim:][::-1], part.strides[dim:][::-1]):
        if n > 1 and s != step:
            return None
        step *= n
    outer = [(n, s) for n, s in zip(part.shape[:dim], part.strides[:dim]) if n > 1]
    if any(s != n * inner for (_, s), (n, inner) in pairwise(outer)):
        return None
    return int(outer[-1][1]) if outer else int(step)


def _join(out: Any, group: Sequence[tuple[Any, int]], dim: int, begin: int) -> None:
    """One launch for parts that follow one another from a place on."""
    if not group:
        return
    now = runtime.current()
    inner = prod(out.shape[dim + 1 :]) * out.dtype.itemsize
    rows, step = prod(out.shape[:dim]), out.shape[dim] * inner
    rest = out.size - begin * inner // out.dtype.itemsize
    target = now.view(out, (rest,), (out.dtype.itemsize,), now.memory(out)[2] + begin * inner, out.dtype)
    widths = [part.shape[dim] * inner for part, _ in group]
    strides = [stride if rows > 1 else 0 for _, stride in group]
    addresses = [now.pointer(target), *[now.pointer(part) for part, _ in group]]
    common = gcd(16, step if rows > 1 else 0, *widths, *strides, *addresses)
    word, unit = min(common, 8), 2 if common == 16 else 1
    each = word * unit
    longest = max(widths) // word
    block = min(1 << (longest - 1).bit_length(), 512 if rows > 1 else TILE)
    tiles = np.cumsum([-(-w // (word * block)) for w in widths]).tolist()
    if tiles[-1] > MOST:  # a grid's second dimension ends there
        for part, _ in group:
            write(out[(*(slice(None),) * dim, slice(begin, begin + part.shape[dim]))], part)
            begin += part.shape[dim]
        return
    several = max(1, min(TILE // block, 1 << (rows - 1).bit_length()))
    pad = [0] * (PARTS - len(group))
    numbers = [rows, step // each]
    numbers += [w // each for w in widths] + pad + [s // each for s in strides] + pad + (tiles + [NEVER] * PARTS)[: PARTS - 1]
    fixed = (("UNIT", unit), ("ROWS", several), ("BLOCK", block))
    arrays = [target, *[part for part, _ in group]]
    arrays += [target] * len(pad)
    signature = (WORDS[word],) * len(arrays) + ("i64",) * len(numbers)
    program = Handwritten("join_rows", fixed, 4, by_address=True)
    now.launch_grid(program, signature, (*arrays, *numbers), (-(-rows // several), tiles[-1]), now.index_of(out))


@kernel(op.stack, device="cuda", plays=True)
def stack(tensors: Any, dim: int) -> Any:
    n = tensors[0].ndim + 1
    if not -n <= dim < n:
        raise IndexError(dim)
    if any(a.shape != tensors[0].shape for a in tensors):
        raise ValueError("stack: shapes differ")
    return cat([a[(*(slice(None),) * (dim % n), None)] for a in tensors], dim % n)


def _triangle(input: Any, diagonal: int, lower: bool, out: Any = None) -> Any:
    item = input.dtype.itemsize
    op.tril.shape_rule(input, diagonal)  # refuses lines
    if item not in WORDS:
        kept = xp.tril(input, diagonal) if lower else xp.triu(input, diagonal)
        return cast(kept, input.dtype)
    now = runtime.current()
    if out is None or out is not input or not out.flags.c_contiguous:
        out = now.empty(input.shape, input.dtype, now.index_of(input))
    if not out.size:
        return out
    *_, rows, columns = input.shape
    many = prod(out.shape[:-2])
    batch = 0 if many == 1 else _row_stride(input.transpose(*range(input.ndim - 2), -1, -2)[..., :1, :1], input.ndim - 2)
    if batch is None or any(s % item for s in input.strides):
        input = contiguous(input)
        batch = rows * columns * item
    *_, row, column = (s // item for s in input.strides)
    apart = column != 1 and columns > 1
    unit = 1 if apart or columns > FAR else gcd(16 // item, columns, row, batch // item)
    diagonal = max(-rows, min(diagonal, columns))  # beyond which nothing changes
    block = min(1 << (columns - 1).bit_length(), 256)
    several = max(1, min(TILE // block, 1 << (rows - 1).bit_length()))
    tiles = -(-rows // several)
    numbers = (tiles, rows, columns // unit, batch // (item * unit), row // unit, column, diagonal)
    fixed = (("LOWER", int(lower)), ("APART", int(apart)), ("UNIT", unit), ("ROWS", several), ("BLOCK", block))
    grid = (tiles * many * -(-columns // block),)
    signature = (WORDS[item],) * 2 + tuple("i64" if abs(x) > FAR else "i32" for x in numbers)
    program = Handwritten("triangle", fixed, 4, by_address=True)
    now.launch_grid(program, signature, (out, input, *numbers), grid, now.index_of(out))
    return out


def _in_place(input: Any, diagonal: int, lower: bool, out: Any) -> Any:
    """The triangle, in `out` if that is given: where it is the input, rows by rows, each program writes what it read."""
    found = _triangle(input, diagonal, lower, out)
    if out is not None:
        write(out, found)
    return found if out is None else out


@kernel(op.tril, device="cuda", plays=True, into=True)
def tril(input: Any, diagonal: int, out: Any = None) -> Any:
    return _in_place(input, diagonal, True, out)


@kernel(op.triu, device="cuda", plays=True, into=True)
def triu(input: Any, diagonal: int, out: Any = None) -> Any:
    return _in_place(input, diagonal, False, out)


@kernel(op.flip, device="cuda", plays=True)
def flip(input: Any, dims: Any) -> Any:
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    op.flip.shape_rule(input, dims)
    backwards = [slice(None)] * input.ndim
    for d in dims if input.ndim else ():
        backwards[d] = slice(None, None, -1)
    order = preserve_format.order_for(input)
    if order == tuple(range(input.ndim)):
        return clone_contiguous(input[tuple(backwards)] if input.ndim else input)
    turned = clone_contiguous(input[tuple(backwards)].transpose(order))
    return turned.transpose([order.index(d) for d in range(input.ndim)])


@kernel(op.roll, device="cuda", plays=True)
def roll(input: Any, shifts: Any, dims: Any) -> Any:
    op.roll.shape_rule(input, shifts, dims)
    if not input.size or not input.ndim:
        return clone_contiguous(input)
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if dims is None or dims == () or dims == []:
        return _rolled(contiguous(input).reshape(-1), {0: steps[0]}).reshape(input.shape)
    along = (dims,) if isinstance(dims, int) else tuple(dims)
    sums: dict[int, int] = {}
    for d, step in zip(along, steps, strict=True):
        sums[d % input.ndim] = sums.get(d % input.ndim, 0) + step
    return _rolled(input, sums)


def _rolled(input: Any, steps: dict[int, int]) -> Any:
    """Each place is read from where its element comes: one launch, of dimensions that the kernel has."""
    now = runtime.current()
    x = contiguous(input)
    out = now.empty(x.shape, x.dtype, now.index_of(x))
    cuts = [steps.get(d, 0) % n for d, n in enumerate(x.shape)]
    sizes: list[int] = []  # dimensions that nothing moves in are one with those behind them
    moved: list[int] = []
    for n, cut in zip(reversed(x.shape), reversed(cuts)):
        if sizes and not cut and not moved[-1]:
            sizes[-1] *= n
        elif n > 1:
            sizes, moved = [*sizes, n], [*moved, cut]
    if len(sizes) > ROLLED or x.dtype.itemsize not in WORDS:
        return _exchanged(input, out, cuts)
    numbers = (*sizes, *(1,) * (ROLLED - len(sizes)), *moved, *(0,) * (ROLLED - len(sizes)))
    fixed = (("DIMS", len(sizes)), ("WIDE", int(x.size + BLOCK >= 2**31)), ("BLOCK", BLOCK))
    program = Handwritten("rolled", fixed, 4, by_address=True)
    signature = (WORDS[x.dtype.itemsize],) * 2 + tuple("i64" if n >= 2**31 else "i32" for n in (x.size, *numbers))
    now.launch_grid(program, signature, (out, x, x.size, *numbers), (-(-x.size // BLOCK),), now.index_of(x))
    return out


def _exchanged(input: Any, out: Any, cuts: Sequence[int]) -> Any:
    """Two pieces of each dimension change places: as many blocks as they make together are written."""
    pieces = [((slice(k, None), slice(None, -k)), (slice(k), slice(-k, None))) if k else ((slice(None),) * 2,) for k in cuts]
    for block in product(*pieces):
        write(out[tuple(to for to, _ in block)], input[tuple(of for _, of in block)])
    return out
