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
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.kernels import table

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


def finite_only(A: Any) -> tuple[Any, Any]:
    """(the matrices, with zeros for one with infinities or NaN, on which iterations might not end; which are as they were)."""
    finite = xp.isfinite(A).all(axis=(-2, -1))
    return xp.where(finite[..., None, None], A, A.dtype.type(0)), finite


def codes_on_host(info: Any, finite: Any) -> Any:
    """The codes in the batch's shape, after a wait."""
    return runtime.current().to_host(xp.where(finite, info.reshape(finite.shape), np.int32(NOT_FINITE)))


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
