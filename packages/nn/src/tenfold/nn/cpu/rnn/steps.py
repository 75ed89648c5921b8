"""What the kernels of recurrence share: products of one step on one thread, complex gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from tenfold.cpu import blas
from tenfold.nn.ops.rnn.steps import walk
from tenfold.settings.threads import blas_threads

Array = np.ndarray[Any, Any]


@contextmanager
def products_of_steps(rows: int, weight: Array) -> Iterator[Any]:
    """`product(a, b, out)` for each step's rows times a weight, on one thread where a second is not worth its while."""
    functions = blas_threads() if rows * weight.size < blas.WORTH_SHARING else None
    threads = functions[1]() if functions is not None else 1
    if functions is not None and threads > 1:
        functions[0](1)
    try:  # np.dot takes half of np.matmul's time, but scales by a single element, 0 times nan being 0 to BLAS
        yield np.dot if weight.size > 1 and rows * weight.shape[0] > 1 and rows * weight.shape[1] > 1 else np.matmul
    finally:
        if functions is not None and threads > 1:
            functions[0](threads)


def input_sums(input: Array, weight: Array, *biases: Array | None) -> Array:
    """input weight^T + biases, of all steps at once."""
    sums: Array = blas.dot(input, weight.T)
    for bias in biases:
        if bias is not None:
            sums += bias
    return sums


def by_step(x: Array, batch_sizes: Sequence[int], reverse: bool) -> list[Array]:
    """The rows of every step, in the order of calculation."""
    size = batch_sizes[0]
    if size == batch_sizes[-1] and size and len(x) == size * len(batch_sizes):
        parts = list(x.reshape(len(batch_sizes), size, *x.shape[1:]))
        return parts[::-1] if reverse else parts
    return [x[rows] for rows, _ in walk(batch_sizes, reverse)]


def conjugated(grads: int, results: tuple[int, ...]) -> Callable[[Any], Any]:
    """For complex numbers the way back is the conjugate of what real arithmetic makes of the conjugate gradients.

    The first `grads` arguments are gradients, as are the `results` of these numbers.
    """

    def decorate(function: Any) -> Any:
        def run(*args: Any) -> Any:
            if args[0].dtype.kind != "c":
                return function(*args)
            made = function(*(a.conj() for a in args[:grads]), *args[grads:])
            return tuple(a.conj() if i in results else a for i, a in enumerate(made))

        return wraps(function)(run)

    return decorate
