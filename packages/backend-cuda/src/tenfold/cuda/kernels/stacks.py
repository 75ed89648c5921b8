"""What the kernels of linear algebra share: matrices as cuSOLVER reads them, what they accept, and failures as PyTorch's errors.

A stack is a contiguous array (count, columns, rows), each matrix column by column (solver.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from tenfold.cuda import capturing, lapack, runtime, solver
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.conversion import clone_contiguous
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.kernels import table

WHOLE, LOWER_ONE, UPPER_ONE = 0, 1, 2  # what is read of a matrix
FINITE = 4096  # elements that a program looks at together
MOST_OF_A_PROGRAM = 1 << 16
NOT_FINITE = -(1 << 20)  # in place of LAPACK's code, of a matrix that was not given to it


def current() -> Any:
    """What factorises on the runtime in use; None where its library is missing, and operators go through the host."""
    if runtime.is_replaced():
        return lapack.available()
    capturing.refuse("matrices cannot be factorised", "do so before the capture, as CuPy's cuSOLVER refuses it")
    return _cusolver(runtime.current().module)


@cache
def _cusolver(cupy: Any) -> Any:
    try:
        return solver.CuSolver(cupy)
    except ImportError:  # a CuPy whose NVIDIA libraries were not installed
        return None


def factorising(target: Any) -> Callable[[Any], Any]:
    """Attach a function that calls `current()`; without cuSOLVER (SciPy in the interpreter) the host computes."""

    on_host = through_host(target.name)

    def attach(function: Any) -> Any:
        @wraps(function)
        def call(*arguments: Any) -> Any:
            if current() is None:
                return on_host(*arguments) if getattr(table("cpu"), target.name, None) is not None else NotImplemented
            with np.errstate(all="ignore"):
                return function(*arguments)

        kernel(target, device="cuda")(call)
        return function

    return attach


def require(A: Any, square: bool = True) -> None:
    """Refuse what LAPACK does not take; the operator's shape rule then says why."""
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2 or A.ndim < 2:
        raise TypeError(f"got {A.dtype}")
    if square and A.shape[-1] != A.shape[-2]:
        raise ValueError("no square matrix")


def require_fit(A: Any, B: Any) -> None:
    """Refuse a system whose sides do not fit."""
    require(A)
    if A.dtype != B.dtype or A.shape[-1] != B.shape[-2] or A.shape[:-2] != B.shape[:-2]:
        raise ValueError("operands do not fit")


def by_columns(A: Any) -> Any:
    """A stack of copies of the matrices, none of them empty."""
    return by_rows(A.swapaxes(-1, -2))


def by_rows(A: Any) -> Any:
    """A stack of copies of the matrices' transposes: the array as it is, row by row."""
    return clone_contiguous(A).reshape(-1, *A.shape[-2:])


def matrices(stack: Any, batch: Any) -> Any:
    """The matrices of a stack, with the dimensions of their batch: a view."""
    return stack.reshape(*batch, *stack.shape[1:]).swapaxes(-1, -2)


def identity(batch: Any, rows: int, columns: int, dtype: Any) -> Any:
    """Identity matrices, an array of their own."""
    return clone_contiguous(xp.broadcast_to(xp.eye(rows, columns, dtype=dtype), (*batch, rows, columns)))


def no_codes(A: Any) -> Any:
    """LAPACK's codes of matrices that went well."""
    return xp.zeros(A.shape[:-2], np.int32)


def finite_stack(A: Any, triangle: int = WHOLE, across: bool = False) -> tuple[Any, Any]:
    """(a stack of the matrices, or of their transposes if `across`, a code for each of them).

    The code of one with infinities or NaN, on which iterations might not end, is NOT_FINITE, and it is zeros. Nobody asks
    what is beside a triangle.
    """
    rows, columns = A.shape[-2:]
    now, size, count = runtime.current(), rows * columns, A.size // (rows * columns)
    if A.dtype.kind == "c" or size > MOST_OF_A_PROGRAM:
        return _finite_stack(A, triangle, across)
    stack = now.empty((count, rows, columns) if across else (count, columns, rows), A.dtype, now.index_of(A))
    codes = now.empty((count,), np.dtype(np.int32), now.index_of(A))
    block = min(FINITE, 1 << max(size - 1, 1).bit_length())
    fixed = (("TRIANGLE", triangle), ("ACROSS", int(across)), ("BLOCK", block))
    given = (stack, codes, contiguous(A), rows, columns, NOT_FINITE)
    start(Handwritten("finite_matrices", fixed, 8 if block == FINITE else 4), (count,), given, now.index_of(A))
    return stack, codes


def _finite_stack(A: Any, triangle: int, across: bool) -> tuple[Any, Any]:
    """The same of complex numbers, and of matrices that are too large for a program, which is slower than what follows by far."""
    read = A if triangle == WHOLE else (xp.tril if triangle == LOWER_ONE else xp.triu)(A)
    finite = xp.isfinite(read).all(axis=(-2, -1))
    read = xp.where(finite[..., None, None], read, A.dtype.type(0))
    codes = xp.where(finite, np.int32(0), np.int32(NOT_FINITE)).reshape(-1)
    return by_rows(read) if across else by_columns(read), codes


def codes_on_host(info: Any, codes: Any, batch: Any) -> Any:
    """LAPACK's codes, or those of `finite_stack`, in the batch's shape, after a wait."""
    found = runtime.current().to_host(run("add", info.reshape(-1), codes))
    return np.where(found <= NOT_FINITE // 2, NOT_FINITE, found).reshape(batch)


def raise_if_failed(name: str, codes: Any, what: str) -> None:
    """LinAlgError for the first matrix that has no result; `codes` are on the host."""
    failed = np.flatnonzero(codes)
    if not failed.size:
        return
    code = int(codes.reshape(-1)[failed[0]])
    where = f"(Batch element {failed[0]}): " if codes.ndim else ""
    why = "contained non-finite values." if code == NOT_FINITE else f"is ill-conditioned or has too many repeated {what}"
    raise failure(
        f"linalg.{name}: {where}The algorithm failed to converge because the input matrix {why}"
        + f" (error code: {code})." * (code != NOT_FINITE)
    )


def failure(words: str) -> Exception:
    """PyTorch's error for a matrix that has no such result."""
    from tenfold.scientific.ops.linalg.checks import LinAlgError

    return LinAlgError(words)
