"""Pseudo-inverse, rank and least squares."""

from __future__ import annotations

from typing import Any

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.ops.pointwise.several import where
from tenfold.scientific.ops.linalg.checks import raise_if_failed, require_floating, require_matrix, require_square, same_dtype
from tenfold.scientific.ops.linalg.solve import same_batch, vector_case
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.numeric_limits import finfo


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


def _tolerances(name: str, A: Any, atol: Any, rtol: Any, rtol_is: str = "rtol") -> tuple[Any, Any]:
    """Both as tensors; with neither given, rtol is the dtype's precision times the larger side."""
    for what, t in (("atol", atol), (rtol_is, rtol)):
        if isinstance(t, Tensor) and t.dtype.is_complex:
            raise RuntimeError(f"torch.{name}: {what} tensor of complex type is not supported. Got {type_name(t.dtype)}")
    default = finfo(A.dtype).eps * max(A.shape[-2:])
    if isinstance(atol, Tensor) and rtol is None:
        rtol = where(atol > 0, 0.0, default)
    if rtol is None:
        rtol = 0.0 if atol is not None and atol > 0 else default
    real = A.real.dtype if A.dtype.is_complex else A.dtype
    both = [0.0 if t is None else t for t in (atol, rtol)]
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
    if A.dim() < 2 or A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError(
            f"linalg.pinv({type_name(A.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    (require_square if hermitian else require_matrix)("linalg.pinv", A)
    *batch, M, N = A.shape
    if A.numel() == 0:
        return A.new_zeros(*batch, N, M) + A.sum() * 0
    atol, rtol = _tolerances("linalg.pinv", A, atol, rcond if rtol is None else rtol, "rcond" if rtol is None else "rtol")
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
    atol, rtol = _tolerances("linalg.matrix_rank", A, atol, rtol)
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
    >>> tenfold.linalg.lstsq(tenfold.tensor([[1.0], [1.0]]), tenfold.tensor([[1.0], [3.0]])).solution.round()
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
    # LAPACK's words for the precision of the numbers; to its divide and conquer 0 and 1 are such words, too.
    if rcond is not None and (rcond < 0 or (driver == "gelsd" and not 0 < rcond < 1)):
        rcond = finfo(A.dtype).eps
    A, columns = same_batch(name, A, columns)
    if driver == "gels":
        _require_full_rank(A)
    solution = columns.mT.matmul(linalg_pinv(A, rtol=None if driver == "gels" else rcond).mT).mT  # by columns, as LAPACK's
    rank, values = _rank_and_values(A, rcond, driver)
    residuals = (solution.real if A.dtype.is_complex else solution).reshape(-1).narrow(0, 0, 0)
    M, N = A.shape[-2:]
    if M > N and (driver == "gels" or (driver != "gelsy" and bool((linalg_matrix_rank(A, rtol=rcond) == N).all()))):
        residuals = (A.matmul(solution) - columns).abs().square().sum(-2)
    return return_types.linalg_lstsq(solution.squeeze(-1) if vector else solution, residuals, rank, values)


def _require_full_rank(A: Any) -> None:
    """Refuse matrices whose triangular factor has a zero on its diagonal."""
    A = A.detach()
    R = op.linalg_qr(A if A.shape[-2] >= A.shape[-1] else A.mH, "r")[1]
    zero = op.diagonal(R, 0, -2, -1) == 0
    place = op.arange(1, zero.shape[-1] + 1, device=zero.device)
    info = op.where(zero, place, zero.shape[-1] + 1).amin(-1) if zero.shape[-1] else zero.sum(-1)
    raise_if_failed(
        "torch.linalg.lstsq", info * zero.any(-1),
        lambda i: f"The least squares solution could not be computed because the input matrix does not have full rank "
        f"(error code: {i}).",
    )  # fmt: skip


def _rank_and_values(A: Any, rcond: Any, driver: str) -> tuple[Any, Any]:
    A = A.detach()
    nothing = A.new_zeros(0, dtype=A.real.dtype)
    rank = op.zeros(0, dtype=op.count_nonzero(A).dtype) if driver == "gels" else linalg_matrix_rank(A, rtol=rcond)
    values = op.linalg_svdvals(A) if driver in ("gelsd", "gelss") else nothing
    return rank, values
