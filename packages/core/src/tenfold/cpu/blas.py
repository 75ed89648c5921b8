"""Matrix products by NumPy's BLAS: without warnings, and on one thread where a second would cost more than it brings.

A product on two threads waits for the slower one. Where other programs keep the cores busy, that is until the system gives
the second thread its turn: (32, 256) @ (256, 1024) took 20 ms instead of 0.15 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet, runner
from tenfold.settings.threads import blas_threads

# Up to this many elements in both factors BLAS uses one thread by itself (so no time is spent on asking), and up to this
# many multiplications one thread is as good as two: 0.4 ms, where two idle cores would take 0.25 ms.
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


# For two small matrices this takes half of np.matmul's time; np.dot itself first asks its arguments for overrides.
# But with a matrix of one element it scales by BLAS, which takes 0 times inf or nan for 0.
matmul = _product(np.matmul)
dot = _product(np.ndarray.dot, matmul)
