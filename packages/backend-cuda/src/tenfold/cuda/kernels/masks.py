"""Writing where masks and positions say, of operators of tenfold-scientific, without waiting for how many places those are."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.conversion import fill
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous
from tenfold.cuda.kernels.indexing import _held, index_put
from tenfold.cuda.kernels.places import WORDS, spread
from tenfold.cuda.kernels.reduction import cumsum
from tenfold.cuda.kernels.sums import I64, target
from tenfold.dispatch.operators import op

BLOCK = 1024
MOST_DIMS = 4  # for which the kernel has sizes
LARGEST = 2**40


def _launched(
    name: str, fixed: tuple[Any, ...], arrays: tuple[Any, ...], kinds: tuple[str, ...], numbers: Any, count: int
) -> None:
    now = runtime.current()
    signature = (*kinds, *["i64" if abs(x) >= 2**31 else "i32" for x in numbers])
    program = Handwritten(name, (*fixed, ("BLOCK", BLOCK)), 4, by_address=True)
    now.launch_grid(program, signature, (*arrays, *numbers), (-(-count // BLOCK),), now.index_of(arrays[1]))
    if runtime.is_replaced():
        reports.check()


@kernel(op.masked_scatter, device="cuda", into=True)
def masked_scatter(input: Any, mask: Any, source: Any, out: Any = None) -> Any:
    item, now = input.dtype.itemsize, runtime.current()
    fits = mask.dtype.kind == "b" and input.dtype == source.dtype and item in WORDS and 0 < input.size < LARGEST
    if not fits or not input.ndim or not source.size or mask.ndim > input.ndim or (out is not None and source is out):
        return NotImplemented
    if any(m not in (1, n) for m, n in zip(mask.shape[::-1], input.shape[::-1])):
        return NotImplemented
    if mask.shape != input.shape:
        mask = now.view(mask, input.shape, spread(input.shape, mask), now.memory(mask)[2], mask.dtype)
    mask, x, values = contiguous(mask), contiguous(input), contiguous(source)
    into = out if out is not None and out is x else now.empty(input.shape, input.dtype, now.index_of(input))
    ends = cumsum(mask.reshape(-1), 0)
    word = WORDS[item]
    kinds = ("*i32", word, word, "*i8", "*i64", word, "i32")
    code = reports.WORDS.index("masked_scatter")
    arrays = reports.words(now), into, x, mask, ends, values
    _launched("scatter_masked", (), (*arrays, code), kinds, (input.size, source.size), input.size)
    if out is None or into is out:
        return into
    return run("cast", into, out=out)


@kernel(op.nonzero_static, device="cuda")
def nonzero_static(input: Any, size: int, fill_value: int) -> Any:
    if not 0 < input.ndim <= MOST_DIMS or not 0 < input.size < LARGEST or type(size) is not int or size <= 0:
        return NotImplemented
    flags = input if input.dtype.kind == "b" else run("ne", input, 0)
    if flags is NotImplemented or type(fill_value) is not int:
        return NotImplemented
    now = runtime.current()
    out = now.empty((size, input.ndim), I64, now.index_of(input))
    ends = cumsum(contiguous(flags).reshape(-1), 0)
    inner = (*input.shape[1:], *(1,) * MOST_DIMS)[: MOST_DIMS - 1]
    numbers = (input.size, size, fill_value, *inner)
    _launched("place_chosen", (("DIMS", input.ndim),), (out, ends), ("*i64", "*i64"), numbers, max(input.size, size))
    return out


@kernel(op.index_fill, device="cuda", into=True, plays=True)
def index_fill(input: Any, dim: int, index: Any, value: Any, out: Any = None) -> Any:
    """Of one number that the dtype has."""
    if not input.size or not input.ndim or not -input.ndim <= dim < input.ndim or index.ndim != 1 or index.dtype != I64:
        return NotImplemented
    if not _held(input.dtype, value) or prod(index.shape) == 0 or index is out:
        return NotImplemented
    now = runtime.current()
    one = now.from_host(np.broadcast_to(np.asarray(value).astype(input.dtype), (1,)), now.index_of(input)).reshape(())
    return index_put(input, [*(None,) * (dim % input.ndim), index], one, False, out)


@kernel(op.fill_diagonal, device="cuda", into=True)
def fill_diagonal(input: Any, fill_value: Any, wrap: bool, out: Any = None) -> Any:
    """Of one number that the dtype has, on a diagonal that does not start again."""
    sizes, now = input.shape, runtime.current()
    if len(sizes) < 2 or not input.size or not _held(input.dtype, fill_value) or (len(sizes) > 2 and len(set(sizes)) > 1):
        return NotImplemented
    if wrap and sizes[0] > sizes[1] + 1 and len(sizes) == 2:
        return NotImplemented
    out = target(input, out)
    diagonal = now.view(out, (min(sizes),), (sum(out.strides),), now.memory(out)[2], out.dtype)
    return NotImplemented if fill(diagonal, fill_value, out=diagonal) is NotImplemented else out
