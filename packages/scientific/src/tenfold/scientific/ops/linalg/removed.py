"""Functions that PyTorch has removed: each says what does its work now."""

from __future__ import annotations

from typing import Any, NoReturn

from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor


def _gone(name: str, instead: str) -> NoReturn:
    raise RuntimeError(f"{name}: This function was deprecated since version 1.9 and is now removed. {instead}")


@composite("linalg", nondifferentiable="it has been removed")
def eig(input: Tensor, eigenvectors: bool = False) -> Any:
    """Removed: raises RuntimeError. `linalg.eig` gives complex eigenvalues and vectors, `linalg.eigvals` the values alone."""
    _gone("eig", "Use tenfold.linalg.eigvals(A), or L, V = tenfold.linalg.eig(A), whose results are complex.")


@composite("linalg", nondifferentiable="it has been removed")
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True) -> Any:
    """Removed: raises RuntimeError. `linalg.eigh` reads the lower triangle unless told `UPLO="U"`."""
    uplo = "U" if upper else "L"
    _gone("symeig", f"Use tenfold.linalg.eigvalsh(A, UPLO='{uplo}'), or L, V = tenfold.linalg.eigh(A, UPLO='{uplo}').")


@composite("linalg", nondifferentiable="it has been removed")
def solve(input: Tensor, A: Tensor) -> Any:
    """Removed: raises RuntimeError. `linalg.solve` takes the matrix first, and gives the solution alone."""
    _gone("solve", "Use X = tenfold.linalg.solve(A, B), with the matrix first; tenfold.linalg.lu_factor gives the factors.")


@composite("linalg", nondifferentiable="it has been removed")
def lstsq(input: Tensor, A: Tensor) -> Any:
    """Removed: raises RuntimeError. `linalg.lstsq` takes the matrix first, and gives the residuals apart."""
    _gone("lstsq", "Use X = tenfold.linalg.lstsq(A, B).solution, with the matrix first; the residuals are a field of their own.")


@composite("linalg", method=None, nondifferentiable="it has been removed")
def matrix_rank(input: Tensor, tol: float | None = None, symmetric: bool = False) -> Any:
    """Removed: raises RuntimeError. `linalg.matrix_rank` calls `symmetric` hermitian."""
    _gone("matrix_rank", f"Use tenfold.linalg.matrix_rank(A, tol={tol}, hermitian={symmetric}).")
