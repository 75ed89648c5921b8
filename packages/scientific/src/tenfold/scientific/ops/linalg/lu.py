"""LU and LDL factorisations, their solutions, and products of Householder reflections."""

from __future__ import annotations

from typing import Any

from tenfold import return_types
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.view.shapes import of_a_copy
from tenfold.scientific.ops.linalg.checks import raise_if_failed, require_matrix, require_square, same_dtype, warn_of_older
from tenfold.scientific.ops.linalg.solve import same_batch
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import type_name
from tenfold.types.memory_format import contiguous_format


@primitive("linalg", method=None, name="lu_packed")
def _lu_packed(A: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Both factors in one matrix, the (1-based) row exchanges, and where it failed: what `linalg.lu_factor` runs.

    >>> import tenfold
    >>> tenfold.op.lu_packed(tenfold.tensor([[1.0, 0.0], [2.0, 1.0]]), True)[1]
    tensor([2, 2], dtype=tenfold.int32)
    """


@_lu_packed.rule
def _(A: Any, pivot: bool) -> tuple[Meta, Meta, Meta]:
    require_matrix("linalg.lu_factor", A)
    *batch, M, N = A.shape
    return Meta(A.shape, A.dtype), Meta((*batch, min(M, N)), "int32"), Meta(batch, "int32")


def _zero(i: int) -> str:
    return f"U[{i},{i}] is zero and using it on lu_solve would result in a division by zero."


@composite("linalg", method=None, out="same")
def linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """LU factorisation with partial pivoting, packed in one matrix, with the place of a zero pivot or 0.

    >>> import tenfold
    >>> tenfold.linalg.lu_factor_ex(tenfold.zeros(2, 2)).info
    tensor(1, dtype=tenfold.int32)
    """
    LU, pivots, info = _lu_packed(A, pivot)
    if check_errors:
        raise_if_failed("linalg.lu_factor_ex", info, _zero)
    return return_types.linalg_lu_factor_ex(LU, pivots, info)


@composite("linalg", method=None, out="same")
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """LU factorisation: L (below the diagonal, ones on it) and U in one matrix, and the 1-based row exchanges.

    Shape: (..., M, N) -> (..., M, N), (..., min(M, N)). Raises: LinAlgError for a zero pivot.

    >>> import tenfold
    >>> tenfold.linalg.lu_factor(tenfold.tensor([[1.0, 0.0], [2.0, 1.0]])).pivots
    tensor([2, 2], dtype=tenfold.int32)
    """
    LU, pivots, info = _lu_packed(A, pivot)
    raise_if_failed("linalg.lu_factor", info, _zero)
    return return_types.linalg_lu_factor(LU, pivots)


@composite("linalg", method=None, out="same")
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P L U with P a permutation, L lower triangular with ones on the diagonal, U upper triangular.

    Shape: (..., M, N) -> (..., M, M), (..., M, K), (..., K, N) with K = min(M, N). Without pivoting P is empty.

    >>> import tenfold
    >>> tenfold.linalg.lu(tenfold.tensor([[1.0, 0.0], [2.0, 1.0]])).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    LU, pivots, _ = _lu_packed(A, pivot)
    return return_types.linalg_lu(*lu_unpack(LU, pivots, unpack_pivots=pivot))


@primitive("linalg", method=None, name="pivot_order", nondifferentiable="its result is integers")
def _pivot_order(pivots: Tensor, rows: int) -> Tensor:
    """The order of rows that the exchanges make: row i of the exchanged matrix was row order[i].

    >>> import tenfold
    >>> tenfold.op.pivot_order(tenfold.tensor([2, 2], dtype=tenfold.int32), 2)
    tensor([1, 0])
    """


@_pivot_order.rule
def _(pivots: Any, rows: int) -> Meta:
    return Meta((*pivots.shape[:-1], rows), "int64")


def _check_pivots(pivots: Tensor, rows: int, low: str, high: str) -> None:
    """Refuse exchanges with rows that there are not; on CUDA the kernel tells of them later, without a wait."""
    if pivots.numel() and not (pivots.is_meta or pivots.is_cuda) and pivots._key.level is None:
        least, greatest = int(pivots.min()), int(pivots.max())
        if least < 1 or greatest > rows:
            raise RuntimeError(f"{low if least < 1 else high or low} Got {least if least < 1 else greatest}, LU has {rows} rows.")


@composite("linalg", method=None, out="same")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The factors P, L, U of a packed factorisation; those not asked for are empty.

    >>> import tenfold
    >>> tenfold.lu_unpack(*tenfold.linalg.lu_factor(tenfold.tensor([[2.0]]))).U
    tensor([[2.]])
    """
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got {LU_pivots.dtype.name}"
        )
    M, N = LU_data.shape[-2:]
    if unpack_pivots:
        _check_pivots(LU_pivots, M, "lu_unpack: LU_pivots has to be between 1 and LU.size(-2).", "")
    K = min(M, N)
    P = L = U = LU_data if unpack_pivots and unpack_data else LU_data.new_zeros(0)
    if unpack_pivots:
        order = _pivot_order(LU_pivots, M)
        places = op.arange(M, device=LU_data.device).unsqueeze(-1)
        P = (order.unsqueeze(-2) == places).to(LU_data.dtype)
    if unpack_data:
        left, right = (LU_data, LU_data) if M == N else (LU_data.narrow(-1, 0, K), LU_data.narrow(-2, 0, K))
        L = left.tril(-1) + op.eye(M, K, dtype=LU_data.dtype, device=LU_data.device)
        U = right.triu()
    return return_types.lu_unpack(P, L, U)


@composite("linalg", method=None, out="same")
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B (X A = B when not `left`; A^H for A with `adjoint`), from the factorisation of A.

    >>> import tenfold
    >>> LU, pivots = tenfold.linalg.lu_factor(tenfold.tensor([[2.0]]))
    >>> tenfold.linalg.lu_solve(LU, pivots, tenfold.tensor([[4.0]]))
    tensor([[2.]])
    """
    require_square("linalg.lu_solve", LU, "LU")
    same_dtype("linalg.lu_solve", LU, B)
    given = "Pivots given to lu_solve must all be"
    _check_pivots(pivots, LU.shape[-2], f"{given} greater or equal to 1.", f"{given} smaller or equal to LU.size(-2).")
    if not left:  # X A = B is A^H X^H = B^H
        return linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    require_matrix("linalg.lu_solve", B, "B")
    LU, B = same_batch("linalg.lu_solve", LU, B)
    order = _pivot_order(pivots.expand(LU.shape[:-1]), LU.shape[-1]).unsqueeze(-1).expand(B.shape)
    solve = op.triangular_solution
    if adjoint:
        half = solve(LU.mH, B, False, False)
        whole = solve(LU.mH, half, True, True)
        return op.zeros_like(whole).scatter(-2, order, whole)
    half = solve(LU, B.gather(-2, order), False, True)
    return solve(LU, half, True, False)


@composite("linalg", out="same")
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`linalg.lu_solve` under its older name, the right-hand side first.

    >>> import tenfold
    >>> LU, pivots = tenfold.linalg.lu_factor(tenfold.tensor([[2.0]]))
    >>> tenfold.lu_solve(tenfold.tensor([[4.0]]), LU, pivots)
    tensor([[2.]])
    """
    warn_of_older("lu_solve", "linalg.lu_solve", "It takes the right-hand side last.")
    return linalg_lu_solve(LU_data, LU_pivots, input)


@composite("linalg", out=True)
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """`linalg.lu_factor_ex` under its older name: (LU, pivots), and info when asked.

    >>> import tenfold
    >>> tenfold.lu(tenfold.tensor([[2.0]]))[0]
    tensor([[2.]])
    """
    warn_of_older("lu", "linalg.lu_factor / torch.linalg.lu_factor_ex", "The second of them returns info.")
    LU, pivots, info = _lu_packed(input, pivot)
    if not get_infos:
        raise_if_failed("lu", info, _zero)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@composite("linalg", method="orgqr", out=True, aliases=("orgqr",), spellings={"input": "A", "input2": "tau"})
def linalg_householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first N columns of the product of reflections I - tau_i v_i v_i^H, v_i in column i of A below a one.

    Shape: (..., M, N), (..., K) -> (..., M, N) with K <= N <= M.

    >>> import tenfold
    >>> tenfold.linalg.householder_product(tenfold.zeros(2, 1), tenfold.tensor([2.0]))
    tensor([[-1.],
            [ 0.]])
    """
    name = "linalg.householder_product"
    if A.dim() < 2:
        raise RuntimeError(f"torch.{name}: input must have at least 2 dimensions.")
    M, N = A.shape[-2:]
    if N > M or tau.shape[-1] > N:
        which = ("-2", "input.shape[-1]") if N > M else ("-1", "tau.shape[-1]")
        raise RuntimeError(
            f"torch.{name}: input.shape[{which[0]}] must be greater than or equal to {which[1]}; "
            f"got {list(A.shape)} and {list(tau.shape)}"
        )
    if tau.shape[:-1] != A.shape[:-2]:
        raise RuntimeError(
            f"{name}: expected input.shape[-2] >= input.shape[-1] >= tau.shape[-1], got {list(A.shape)} and {list(tau.shape)}"
        )
    if A.dtype is not tau.dtype:
        raise RuntimeError(
            f"torch.{name}: tau dtype {type_name(tau.dtype)} does not match input dtype {type_name(A.dtype)}; convert one of them"
        )
    start = op.fill(A, 0) + op.eye(M, N, dtype=A.dtype, device=A.device)  # a constant, but in the graph
    return _by_columns(_reflected(A, tau, start))


def _by_columns(x: Tensor) -> Tensor:
    """A new matrix column by column, as LAPACK has it."""
    return of_a_copy(x.mT.clone(memory_format=contiguous_format).mT)


def _reflected(A: Any, tau: Any, C: Any, adjoint: bool = False) -> Any:
    """The product of the reflections (or its adjoint) times C."""
    V = A.narrow(-1, 0, tau.shape[-1]).tril(-1) + op.eye(A.shape[-2], tau.shape[-1], dtype=A.dtype, device=A.device)
    V, C = V.contiguous(), C.contiguous()  # a sum of products is rounded by the order of its memory
    places = range(tau.shape[-1])
    for i in places if adjoint else reversed(places):
        v, t = V.narrow(-1, i, 1), tau.narrow(-1, i, 1).unsqueeze(-1)
        C = C - (t.conj() if adjoint and t.dtype.is_complex else t) * v.matmul(v.mH.matmul(C))
    return C


@composite("linalg", out="same", spellings={"input2": "tau", "input3": "other"})
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """A matrix times the whole orthogonal matrix of `geqrf`'s reflections (its adjoint with `transpose`).

    >>> import tenfold
    >>> tenfold.ormqr(tenfold.zeros(1, 1), tenfold.tensor([2.0]), tenfold.tensor([[3.0]]))
    tensor([[-3.]])
    """
    require_matrix("ormqr", input)
    if left:
        return _by_columns(_reflected(input, tau, other, transpose))
    return _reflected(input, tau, other.mH, not transpose).mH


@primitive("linalg", method=None, name="geqrf_pair", nondifferentiable="PyTorch has no derivative of it either; use linalg.qr")
def _geqrf_pair(A: Tensor) -> tuple[Tensor, Tensor]:
    """R with the reflections below it, and their factors: what `geqrf` runs.

    >>> import tenfold
    >>> tenfold.op.geqrf_pair(tenfold.tensor([[3.0], [4.0]]))[0].abs()[0]
    tensor([5.])
    """


@_geqrf_pair.rule
def _(A: Any) -> tuple[Meta, Meta]:
    require_matrix("geqrf", A)
    return Meta(A.shape, A.dtype), Meta((*A.shape[:-2], min(A.shape[-2:])), A.dtype)


@composite("linalg", out=True)
def geqrf(input: Tensor) -> Any:
    """QR decomposition as LAPACK packs it: R, with Householder vectors below its diagonal, and their factors tau.

    >>> import tenfold
    >>> tenfold.geqrf(tenfold.tensor([[3.0], [4.0]])).a.shape
    tenfold.Size([2, 1])
    """
    packed, tau = _geqrf_pair(input)
    return return_types.geqrf(packed.mT.contiguous().mT, tau)  # column by column, as LAPACK has it


# Symmetric indefinite matrices


@primitive("linalg", method=None, name="ldl_packed", nondifferentiable="PyTorch has no derivative of it either")
def _ldl_packed(A: Tensor, hermitian: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Factor and blocks in one matrix, LAPACK's pivots, and where it failed: what `linalg.ldl_factor_ex` runs.

    >>> import tenfold
    >>> tenfold.op.ldl_packed(tenfold.tensor([[4.0, 2.0], [2.0, 3.0]]), False)[0]
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """


@_ldl_packed.rule
def _(A: Any, hermitian: bool) -> tuple[Meta, Meta, Meta]:
    require_square("linalg.ldl_factor_ex", A)
    return Meta(A.shape, A.dtype), Meta(A.shape[:-1], "int32"), Meta(A.shape[:-2], "int32")


@composite("linalg", method=None, out="same")
def linalg_ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """A = L D L^T (L^H with `hermitian`) of a symmetric matrix, D of blocks of 1 or 2; packed as LAPACK does.

    Source: J. Bunch and L. Kaufman, Some Stable Methods for Calculating Inertia and Solving Symmetric Linear Systems, 1977.

    >>> import tenfold
    >>> tenfold.linalg.ldl_factor_ex(tenfold.tensor([[4.0, 2.0], [2.0, 3.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    LD, pivots, info = _ldl_packed(A, hermitian)
    if check_errors:
        raise_if_failed("linalg.ldl_factor_ex", info, _zero_block)
    return return_types.linalg_ldl_factor_ex(LD, pivots, info)


def _zero_block(i: int) -> str:
    return f"The diagonal block {i} is zero, the factorization cannot be used to solve a system."


@composite("linalg", method=None, out="same")
def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """`ldl_factor_ex` that raises LinAlgError where a block of D is zero.

    >>> import tenfold
    >>> tenfold.linalg.ldl_factor(tenfold.tensor([[4.0, 2.0], [2.0, 3.0]])).pivots
    tensor([1, 2], dtype=tenfold.int32)
    """
    LD, pivots, info = _ldl_packed(A, hermitian)
    raise_if_failed("linalg.ldl_factor", info, _zero_block)
    return return_types.linalg_ldl_factor(LD, pivots)


@primitive("linalg", method=None, out="same", nondifferentiable="PyTorch has no derivative of it either")
def linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X with A X = B from the factorisation that `ldl_factor` made of A.

    >>> import tenfold
    >>> LD, pivots = tenfold.linalg.ldl_factor(tenfold.tensor([[2.0]]))
    >>> tenfold.linalg.ldl_solve(LD, pivots, tenfold.tensor([[4.0]]))
    tensor([[2.]])
    """


@linalg_ldl_solve.rule
def _(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Meta:
    require_square("linalg.ldl_solve", LD, "LD")
    require_matrix("linalg.ldl_solve", B, "B")
    same_dtype("linalg.ldl_solve", LD, B)
    if B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(f"linalg.ldl_solve: shapes do not fit, got LD {list(LD.shape)} and B {list(B.shape)}")
    return Meta((*broadcast_shapes("linalg.ldl_solve", [LD.shape[:-2], B.shape[:-2]]), *B.shape[-2:]), B.dtype)
