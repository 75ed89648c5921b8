"""Matrix products by NumPy's BLAS: without warnings, and on one thread where a second would cost more than it brings.

A product on two threads waits for the slower one. Where other programs keep the cores busy, that is until the system gives
the second its turn: 20 ms instead of 0.15 ms.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet, runner
from tenfold.settings.threads import blas_threads

# Up to this many elements in both factors BLAS uses one thread by itself (so no time is spent on asking), and up to this
# many multiplications one thread is as good as two.
SMALL, WORTH_SHARING = 1 << 13, 1 << 25


def _product(multiply: Any, of_one: Any = None) -> Callable[[Any, Any], Any]:
    silent = quiet(multiply, 2)
    run = runner()

    def product(a: Any, b: Any) -> Any:
        if of_one is not None and (a.size == 1 or b.size == 1):
            return of_one(a, b)
        if a.size + b.size > SMALL or run is None:
            return _shared(silent, a, b)
        try:
            return run(multiply, a, b)
        except RuntimeError:  # as in `quiet`
            return silent(a, b)

    return product


def _shared(multiply: Any, a: Any, b: Any) -> Any:
    """multiply(a, b) on as many threads as are worth their while; each product of a batch is as large as its matrices."""
    functions = blas_threads()
    multiplications = (a.shape[-2] if a.ndim > 1 else 1) * a.shape[-1] * (b.shape[-1] if b.ndim > 1 else 1)
    if functions is None or multiplications >= WORTH_SHARING:
        return multiply(a, b)
    set_threads, get_threads = functions
    before = get_threads()
    if before == 1:
        return multiply(a, b)
    set_threads(1)
    try:
        return multiply(a, b)
    finally:
        set_threads(before)


_multiply = quiet(partial(np.multiply, order="C"), 2)
_MANY = 1 << 14  # products of one column and one row, from which on the detour of `outer` pays


def outer(a: Any, b: Any) -> Any:
    """Batches of products of one column and one row: (..., M, 1), (..., 1, N) -> (..., M, N).

    NumPy's loop has 50 ns for each row of a result. With a second column and row of zeros BLAS takes them, in half the time;
    of float64 it is not faster everywhere.
    """
    if a.dtype.char != "f" or max(a.size * b.shape[-1], a.shape[-2] * b.size) < _MANY:
        return _multiply(a, b)
    wide, tall = np.zeros((*a.shape[:-1], 2), a.dtype), np.zeros((*b.shape[:-2], 2, b.shape[-1]), b.dtype)
    wide[..., :1], tall[..., :1, :] = a, b
    return matmul(wide, tall)


# For two small matrices this takes half of np.matmul's time; np.dot itself first asks its arguments for overrides.
# But with a matrix of one element it scales by BLAS, which takes 0 times inf or nan for 0.
matmul = _product(partial(np.matmul, order="C"))  # else batches lie as the factors' do
dot = _product(np.ndarray.dot, matmul)
