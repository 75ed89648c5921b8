"""Linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.pointwise.several import where
from tenfold.ops.view.shapes import of_a_copy
from tenfold.scientific.ops.linalg.checks import (
    raise_if_failed,
    real_dtype,
    require_matrix,
    require_square,
    same_dtype,
    warn_of_older,
)
from tenfold.tensor.tensor import Tensor

# Inverses


@primitive("linalg", method=None, name="inverse_pair")
def _inverse_pair(A: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse and where it failed: what `linalg.inv` and `linalg.inv_ex` run.

    >>> import tenfold
    >>> tenfold.op.inverse_pair(tenfold.tensor([[2.0]]))
    (tensor([[0.5000]]), tensor(0, dtype=tenfold.int32))
    """


@_inverse_pair.rule
def _(A: Any) -> tuple[Meta, Meta]:
    require_square("linalg.inv", A)
    return Meta(A.shape, A.dtype), Meta(A.shape[:-2], "int32")


def _require_invertible(name: str, info: Any) -> None:
    raise_if_failed(
        name, info,
        lambda i: f"The diagonal element {i} is zero, the inversion could not be completed because the input matrix is singular.",
    )  # fmt: skip


@composite("linalg", method=None, out="same")
def linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Inverse with, for each matrix, 0 or the (1-based) place of the zero on the diagonal of its triangular factor.

    >>> import tenfold
    >>> tenfold.linalg.inv_ex(tenfold.zeros(2, 2)).info
    tensor(1, dtype=tenfold.int32)
    """
    inverse, info = _inverse_pair(A)
    if check_errors:
        _require_invertible("linalg.inv_ex", info)
    return return_types.linalg_inv_ex(inverse, info)


@composite("linalg", method=None, out="same")
def linalg_inv(A: Tensor) -> Tensor:
    """Inverse of a square matrix. Shape: (..., N, N) -> (..., N, N). Raises: LinAlgError for a singular matrix.

    >>> import tenfold
    >>> tenfold.linalg.inv(tenfold.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    inverse, info = _inverse_pair(A)
    _require_invertible("linalg.inv", info)
    return inverse


@composite("linalg", out="same")
def inverse(input: Tensor) -> Tensor:
    """Alias of `linalg.inv`.

    >>> import tenfold
    >>> tenfold.inverse(tenfold.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return linalg_inv(input)


# Systems


@primitive("linalg", method=None, name="solve_pair")
def _solve_pair(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """X with A X = B for batches of one shape, and where it failed: what `linalg.solve` and
    `linalg.solve_ex` run.

    >>> import tenfold
    >>> tenfold.op.solve_pair(tenfold.tensor([[2.0]]), tenfold.tensor([[4.0]]))[0]
    tensor([[2.]])
    """


@_solve_pair.rule
def _(A: Any, B: Any) -> tuple[Meta, Meta]:
    require_square("linalg.solve", A)
    same_dtype("linalg.solve", A, B)
    if B.shape[-2] != A.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and "
            f"{B.shape[-2]}x{B.shape[-1]})"
        )
    return Meta(B.shape, B.dtype), Meta(A.shape[:-2], "int32")


def vector_case(A: Any, B: Any) -> bool:
    """Whether B is a vector or a batch of vectors, one for each matrix of A."""
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1]))


def same_batch(name: str, A: Any, B: Any) -> tuple[Any, Any]:
    """Both with the batch dimensions that they broadcast to."""
    a, b = tuple(A.shape), tuple(B.shape)
    if a[:-2] == b[:-2]:
        return A, B
    batch = broadcast_shapes(name, [a[:-2], b[:-2]])
    return A.expand([*batch, *a[-2:]]), B.expand([*batch, *b[-2:]])


def _solved(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Any, Any]:
    require_square(name, A)
    same_dtype(name, A, B)
    if vector_case(A, B):
        if not left:
            raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False")
        X, info = _solved(name, A, B.unsqueeze(-1), left)
        return of_a_copy(X.squeeze(-1)), info
    require_matrix(name, B, "B")
    if left:
        return _solve_pair(*same_batch(name, A, B))
    X, info = _solve_pair(*same_batch(name, A.mT, B.mT))
    return X.mT, info


@composite("linalg", method=None, out="same")
def linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """Solution of a linear system with, for each matrix, 0 or the place of the zero pivot.

    >>> import tenfold
    >>> tenfold.linalg.solve_ex(tenfold.tensor([[2.0]]), tenfold.tensor([4.0])).result
    tensor([2.])
    """
    X, info = _solved("linalg.solve_ex", A, B, left)
    if check_errors:
        raise_if_failed("linalg.solve_ex", info, _singular)
    return return_types.linalg_solve_ex(X, info)


def _singular(_: int) -> str:
    return "The solver failed because the input matrix is singular."


@composite("linalg", method=None, out="same")
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (or X A = B when not `left`). Shape: (..., N, N), (..., N) or (..., N, K) -> B's, batches broadcast.

    Raises: LinAlgError for a singular matrix.

    >>> import tenfold
    >>> tenfold.linalg.solve(tenfold.tensor([[2.0, 0.0], [0.0, 4.0]]), tenfold.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    X, info = _solved("linalg.solve", A, B, left)
    raise_if_failed("linalg.solve", info, _singular)
    return X


@primitive("linalg", method=None, name="triangular_solution")
def _triangular_solution(A: Tensor, B: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    """X with A X = B, reading one triangle of A, for batches of one shape: what `linalg.solve_triangular` runs.

    >>> import tenfold
    >>> tenfold.op.triangular_solution(tenfold.tensor([[2.0]]), tenfold.tensor([[4.0]]), True, False)
    tensor([[2.]])
    """


@_triangular_solution.rule
def _(A: Any, B: Any, upper: bool, unitriangular: bool) -> Meta:
    require_square("linalg.solve_triangular", A)
    same_dtype("linalg.solve_triangular", A, B)
    if B.shape[-2] != A.shape[-1]:
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    return Meta(B.shape, B.dtype)


@composite("linalg", method=None, out="same")
def linalg_solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with A X = B (or X A = B) for a triangular A, of which only the given triangle is read.

    Shape: (..., N, N), (..., N, K) -> (..., N, K). Dtype: that of A. A zero on the diagonal gives infinities, no error.

    >>> import tenfold
    >>> A = tenfold.tensor([[2.0, 0.0], [1.0, 1.0]])
    >>> tenfold.linalg.solve_triangular(A, tenfold.tensor([[2.0], [3.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_matrix(name, B, "B")
    B = B.to(A.dtype)
    if left:
        return _triangular_solution(*same_batch(name, A, B), upper, unitriangular)
    return _triangular_solution(*same_batch(name, A.mT, B.mT), not upper, unitriangular).mT


@composite("linalg", out="same")
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """Solution of a triangular system under its older name, with a copy of A.

    >>> import tenfold
    >>> tenfold.triangular_solve(tenfold.tensor([[4.0]]), tenfold.tensor([[2.0]])).solution
    tensor([[2.]])
    """
    warn_of_older("triangular_solve", "linalg.solve_triangular", "It takes its arguments the other way round and copies none.")
    require_matrix("triangular_solve", input, "b")
    require_square("triangular_solve", A)
    a, b = same_batch("triangular_solve", A, input)
    turned = a.mT if transpose else a
    solution = _triangular_solution(turned, b, upper != transpose, unitriangular)
    return return_types.triangular_solve(solution, a.clone())


# Determinants


@primitive("linalg", method=None, name="determinant", rule=None)
def _determinant(A: Tensor) -> Tensor:
    """The determinant: what `linalg.det` runs.

    >>> import tenfold
    >>> tenfold.op.determinant(tenfold.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
    """


@_determinant.rule
def _(A: Any) -> Meta:
    require_square("linalg.det", A)
    return Meta(A.shape[:-2], A.dtype)


@composite("linalg", method=None, out="same")
def linalg_det(A: Tensor) -> Tensor:
    """Determinant of a square matrix. Shape: (..., N, N) -> (...).

    >>> import tenfold
    >>> tenfold.linalg.det(tenfold.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
    """
    return _determinant(A)


@composite("linalg")
def det(input: Tensor) -> Tensor:
    """Alias of `linalg.det`.

    >>> import tenfold
    >>> tenfold.det(tenfold.tensor([[2.0]]))
    tensor(2.)
    """
    return _determinant(input)


@primitive("linalg", method=None, name="log_determinant")
def _log_determinant(A: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the determinant's size: what `linalg.slogdet` runs.

    >>> import tenfold
    >>> tenfold.op.log_determinant(tenfold.tensor([[-1.0]]))
    (tensor(-1.), tensor(0.))
    """


@_log_determinant.rule
def _(A: Any) -> tuple[Meta, Meta]:
    require_square("linalg.slogdet", A)
    return Meta(A.shape[:-2], A.dtype), Meta(A.shape[:-2], real_dtype(A.dtype))


@composite("linalg", method=None, out="same")
def linalg_slogdet(A: Tensor) -> Any:
    """Sign (of size 1, or 0) and logarithm of the absolute value (-inf at 0) of the determinant.

    >>> import tenfold
    >>> tenfold.linalg.slogdet(tenfold.tensor([[-1.0, 0.0], [0.0, 1.0]])).sign
    tensor(-1.)
    """
    return return_types.linalg_slogdet(*_log_determinant(A))


@composite("linalg", out="same")
def slogdet(input: Tensor) -> Any:
    """Alias of `linalg.slogdet`.

    >>> import tenfold
    >>> tenfold.slogdet(tenfold.tensor([[1.0]])).logabsdet
    tensor(0.)
    """
    return return_types.slogdet(*_log_determinant(input))


@composite("linalg")
def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant; NaN where it is negative.

    >>> import tenfold
    >>> tenfold.logdet(tenfold.eye(2))
    tensor(0.)
    """
    sign, size = _log_determinant(input)
    if input.dtype.is_complex:
        return size + sign.log()
    return where(sign == -1, float("nan"), size)
