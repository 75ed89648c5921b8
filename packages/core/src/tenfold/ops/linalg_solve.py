"""Linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

from tenfold import return_types
from tenfold.meta import Meta
from tenfold.operators import composite, op, primitive
from tenfold.ops.linalg_checks import (
    raise_if_failed,
    real_dtype,
    require_floating,
    require_matrix,
    require_square,
    same_dtype,
)
from tenfold.ops.pointwise import where
from tenfold.ops.rules import broadcast_shapes
from tenfold.tensor import Tensor

# Inverses


@primitive("linalg", method=None, name="inverse_pair")
def _inverse_pair(A: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse and where it failed: what `linalg.inv_ex` runs.

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


@composite("linalg", method=None, out=True)
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


@composite("linalg", method=None, out=True)
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


@composite("linalg", out=True)
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
    """X with A X = B for batches of one shape, and where it failed: what `linalg.solve_ex` runs.

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
    batch = broadcast_shapes(name, [A.shape[:-2], B.shape[:-2]])
    return A.expand([*batch, *A.shape[-2:]]), B.expand([*batch, *B.shape[-2:]])


def _solved(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Any, Any]:
    require_square(name, A)
    same_dtype(name, A, B)
    if vector_case(A, B):
        if not left:
            raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False")
        X, info = _solved(name, A, B.unsqueeze(-1), left)
        return X.squeeze(-1), info
    require_matrix(name, B, "B")
    if left:
        return _solve_pair(*same_batch(name, A, B))
    X, info = _solve_pair(*same_batch(name, A.mT, B.mT))
    return X.mT, info


@composite("linalg", method=None, out=True)
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


@composite("linalg", method=None, out=True)
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


@composite("linalg", method=None, out=True)
def linalg_solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with A X = B (or X A = B) for a triangular A, of which only the given triangle is read.

    Shape: (..., N, N), (..., N, K) -> (..., N, K). A zero on the diagonal gives infinities, no error.

    >>> import tenfold
    >>> A = tenfold.tensor([[2.0, 0.0], [1.0, 1.0]])
    >>> tenfold.linalg.solve_triangular(A, tenfold.tensor([[2.0], [3.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_matrix(name, B, "B")
    if left:
        return _triangular_solution(*same_batch(name, A, B), upper, unitriangular)
    return _triangular_solution(*same_batch(name, A.mT, B.mT), not upper, unitriangular).mT


@composite("linalg")
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """Solution of a triangular system under its older name, with a copy of A.

    >>> import tenfold
    >>> tenfold.triangular_solve(tenfold.tensor([[4.0]]), tenfold.tensor([[2.0]])).solution
    tensor([[2.]])
    """
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


@composite("linalg", method=None, out=True)
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


@composite("linalg", method=None, out=True)
def linalg_slogdet(A: Tensor) -> Any:
    """Sign (of size 1, or 0) and logarithm of the absolute value (-inf at 0) of the determinant.

    >>> import tenfold
    >>> tenfold.linalg.slogdet(tenfold.tensor([[-1.0, 0.0], [0.0, 1.0]])).sign
    tensor(-1.)
    """
    return return_types.linalg_slogdet(*_log_determinant(A))


@composite("linalg", out=True)
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


# Pseudo-inverse, rank, least squares


@primitive("linalg", method=None, name="pseudo_inverse")
def _pseudo_inverse(A: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool) -> Tensor:
    """The pseudo-inverse without singular values up to max(atol, rtol * largest): what `linalg.pinv` runs.

    >>> import tenfold
    >>> zero = tenfold.tensor(0.0)
    >>> tenfold.op.pseudo_inverse(tenfold.tensor([[2.0]]), zero, zero, False)
    tensor([[0.5000]])
    """


@_pseudo_inverse.rule
def _(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Meta:
    (require_square if hermitian else require_matrix)("linalg.pinv", A)
    *batch, M, N = A.shape
    return Meta((*batch, N, M), A.dtype)


def _tolerances(A: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Both as tensors; with neither given, rtol is the dtype's precision times the larger side."""
    from tenfold.numeric_limits import finfo

    default = finfo(A.dtype).eps * max(A.shape[-2:])
    if isinstance(atol, Tensor) and rtol is None:
        rtol = where(atol > 0, 0.0, default)
    if rtol is None:
        rtol = 0.0 if atol is not None and atol > 0 else default
    real = A.real.dtype if A.dtype.is_complex else A.dtype
    both = [0.0 if t is None else t for t in (atol, rtol)]
    for t in both:
        if isinstance(t, Tensor) and t.dtype.is_complex:
            raise RuntimeError(f"linalg: atol and rtol tensors of complex type are not supported. Got {t.dtype.name}")
    return tuple([t.detach().to(real) if isinstance(t, Tensor) else op.full((), t, dtype=real, device=A.device) for t in both])  # type: ignore[return-value]


@composite("linalg", method=None, out=True)
def linalg_pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Moore-Penrose pseudo-inverse: singular values up to max(atol, rtol * largest) count as zero.

    Shape: (..., M, N) -> (..., N, M). `rcond` is an older name of rtol.

    >>> import tenfold
    >>> tenfold.linalg.pinv(tenfold.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    (require_square if hermitian else require_matrix)("linalg.pinv", A)
    *batch, M, N = A.shape
    if A.numel() == 0:
        return A.new_zeros(*batch, N, M) + A.sum() * 0
    atol, rtol = _tolerances(A, atol, rcond if rtol is None else rtol)
    return _pseudo_inverse(A, atol, rtol, hermitian)


@composite("linalg")
def pinverse(input: Tensor, rcond: Any = 1e-15) -> Tensor:
    """Pseudo-inverse under its older name.

    >>> import tenfold
    >>> tenfold.pinverse(tenfold.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return linalg_pinv(input, rcond)


@composite("linalg", method=None, out=True)
def linalg_matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values are above max(atol, rtol * largest). Shape: (..., M, N) -> (...). Dtype: int64.

    >>> import tenfold
    >>> tenfold.linalg.matrix_rank(tenfold.tensor([[1.0, 1.0], [2.0, 2.0]]))
    tensor(1)
    """
    (require_square if hermitian else require_matrix)("linalg.matrix_rank", A)
    A = A.detach()
    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2], dtype=op.count_nonzero(A).dtype)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = _tolerances(A, atol, rtol)
    values = op.linalg_eigvalsh(A).abs() if hermitian else op.linalg_svdvals(A)
    limit = op.maximum(atol, rtol * values.amax(-1))
    return (values > limit.unsqueeze(-1)).sum(-1)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@composite("linalg", method=None)
def linalg_lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X of least norm(A X - B), with residuals, rank and singular values as the LAPACK driver gives them.

    Shape: (..., M, N), (..., M, K) -> (..., N, K). Residuals are of systems with M > N and full rank; the rank comes with
    all drivers but "gels" (which takes A to have full rank), singular values with "gelsd" and "gelss".

    >>> import tenfold
    >>> tenfold.linalg.lstsq(tenfold.tensor([[1.0], [1.0]]), tenfold.tensor([[1.0], [3.0]])).solution.round(decimals=4)
    tensor([[2.]])
    """
    name = "linalg.lstsq"
    require_matrix(name, A)
    require_floating(name, B)
    same_dtype(name, A, B)
    driver = driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(_DRIVERS)}), got {driver}")
    vector = vector_case(A.select(-1, 0), B) if A.shape[-1] and B.dim() < A.dim() else B.dim() == A.dim() - 1
    columns = B.unsqueeze(-1) if vector else B
    if columns.dim() < 2 or columns.shape[-2] != A.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2), got {list(A.shape)} and {list(B.shape)}")
    A, columns = same_batch(name, A, columns)
    solution = linalg_pinv(A, rtol=rcond).matmul(columns)
    rank, values, residuals = _rank_and_values(A, rcond, driver)[:2] + (
        (solution.real if A.dtype.is_complex else solution).reshape(-1).narrow(0, 0, 0),
    )
    M, N = A.shape[-2:]
    if M > N and (driver == "gels" or driver != "gelsy" and bool((linalg_matrix_rank(A, rtol=rcond) == N).all())):
        residuals = (A.matmul(solution) - columns).abs().square().sum(-2)
    return return_types.linalg_lstsq(solution.squeeze(-1) if vector else solution, residuals, rank, values)


def _rank_and_values(A: Any, rcond: Any, driver: str) -> tuple[Any, Any]:
    A = A.detach()
    nothing = A.new_zeros(0, dtype=A.real.dtype)
    rank = op.zeros(0, dtype=op.count_nonzero(A).dtype) if driver == "gels" else linalg_matrix_rank(A, rtol=rcond)
    values = op.linalg_svdvals(A) if driver in ("gelsd", "gelss") else nothing
    return rank, values
