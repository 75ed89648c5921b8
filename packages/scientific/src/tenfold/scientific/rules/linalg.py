"""Gradients of the matrix factorisations, of inverses, systems and determinants.

Sources: M. Giles, An Extended Collection of Matrix Derivative Results, 2008; I. Murray, Differentiation of the Cholesky
Decomposition, 2016; J. Townsend, Differentiating the Singular Value Decomposition, 2016; Z.-Q. Wan and S.-X. Zhang,
Automatic Differentiation for Complex Valued SVD, 2019; D. Roberts and L. Roberts, QR and LQ Decomposition Matrix
Backpropagation Algorithms for Square, Wide, and Deep Matrices, 2020; G. Golub and V. Pereyra, The Differentiation of
Pseudo-Inverses and Nonlinear Least Squares Problems, 1973.

`g` of an operator with several results is a list with None for results that have no gradient; `H` is the adjoint.
"""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient, gradients
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.rules.conjugates import conj, is_complex
from tenfold.autograd.rules.matmul import adjoint as H
from tenfold.ops.pointwise.several import where
from tenfold.scientific.masks import anywhere
from tenfold.scientific.ops.linalg.checks import numbers


def real(x: Any) -> Any:
    return x.real if is_complex(x) else x


def diagonal(x: Any) -> Any:
    return op.diagonal(x, 0, -2, -1)


def embedded(d: Any, like: Any) -> Any:
    """A diagonal matrix, of the dtype of `like`."""
    return op.diag_embed(d.to(like.dtype))


def without_diagonal(x: Any) -> Any:
    return x.tril(-1) + x.triu(1)


def differences(values: Any) -> Any:
    """values_j - values_i at (i, j), 1 on the diagonal, to divide by."""
    E = values.unsqueeze(-2) - values.unsqueeze(-1)
    return E + embedded(op.ones_like(values), E)


def quotient(x: Any, E: Any) -> Any:
    """x / E, 0 where both are: equal values have a gradient as long as their vectors get none."""
    return x / where((x == 0) & (E == 0), 1, E)


def solve(A: Any, B: Any) -> Any:
    return op.linalg_solve_ex(A, B)[0]


# Inverses and systems


@gradients(op.inverse_pair, "A", results=(0,))
def _(g: Any, needs: Any, out0: Any) -> Any:
    adjoint = H(out0)
    return (-adjoint.matmul(g[0].matmul(adjoint)),)


@gradients(op.solve_pair, "A", "B", results=(0,))
def _(g: Any, needs: Any, A: Any, out0: Any) -> Any:
    to_B = solve(H(A), g[0])
    return -to_B.matmul(H(out0)) if needs[0] else None, to_B


@gradients(op.triangular_solution, "A", "B")
def _(g: Any, needs: Any, A: Any, out: Any, upper: bool, unitriangular: bool) -> Any:
    to_B = op.linalg_solve_triangular(H(A), g, upper=not upper, unitriangular=unitriangular)
    if not needs[0]:
        return None, to_B
    to_A = -to_B.matmul(H(out))
    shift = 1 if unitriangular else 0
    return to_A.triu(shift) if upper else to_A.tril(-shift), to_B


@gradients(op.pseudo_inverse, "A")
def _(g: Any, needs: Any, A: Any, out: Any) -> Any:
    """Golub and Pereyra 1973, equation 4.12, turned into a vector-Jacobian product."""
    P, PH, gH = out, H(out), H(g)
    across = gH.matmul(P).matmul(PH)
    along = PH.matmul(P).matmul(gH)
    to_A = -PH.matmul(g).matmul(PH) + across - A.matmul(P).matmul(across) + along - along.matmul(P).matmul(A)
    return (to_A,)


# Determinants


def _cofactors(A: Any) -> Any:
    """The conjugated matrix of cofactors, by singular values, so that singular matrices have one too."""
    U, S, Vh = op.linalg_svd(A)
    others = op.stack([_product_without(S, i) for i in range(S.shape[-1])], -1)
    phase = op.linalg_det(U) * op.linalg_det(Vh)
    return conj(phase).unsqueeze(-1).unsqueeze(-1) * (U * others.unsqueeze(-2).to(U.dtype)).matmul(Vh)


def _product_without(S: Any, i: int) -> Any:
    return op.cat([S.narrow(-1, 0, i), S.narrow(-1, i + 1, S.shape[-1] - i - 1)], -1).prod(-1)


def _det(g: Any, A: Any, out: Any) -> Any:
    if A.shape[-1] == 0:
        return op.zeros_like(A)
    if (numbers(out) == 0).any():
        return g.unsqueeze(-1).unsqueeze(-1) * _cofactors(A)
    return (g * conj(out)).unsqueeze(-1).unsqueeze(-1) * H(op.linalg_inv_ex(A)[0])


gradient(op.determinant, A=_det)


@gradients(op.log_determinant, "A")
def _(g: Any, needs: Any, A: Any, out0: Any) -> Any:
    weight = g[1]
    if is_complex(A):  # the angle of the sign turns with the imaginary part of tr(A^-1 dA)
        weight = op.complex(weight, -(conj(g[0]) * out0).imag)
    return (weight.unsqueeze(-1).unsqueeze(-1) * H(op.linalg_inv_ex(A)[0]),)


@gradients(op.cholesky_inverted, "L")
def _(g: Any, needs: Any, L: Any, out: Any, upper: bool) -> Any:
    both = out.matmul(g + H(g)).matmul(out)
    return (-L.matmul(both) if upper else -both.matmul(L),)


@gradients(op.cholesky_solution, "A", "B")
def _(g: Any, needs: Any, A: Any, out: Any, upper: bool) -> Any:
    to_B = op.cholesky_solve(g, A, upper)
    if not needs[0]:
        return None, to_B
    both = to_B.matmul(H(out))
    both = both + H(both)
    return -A.matmul(both) if upper else -both.matmul(A), to_B


# Cholesky: Murray 2016, equation 10


@gradients(op.cholesky_pair, "A", results=(0,))
def _(g: Any, needs: Any, out0: Any, upper: bool) -> Any:
    L, gL = (H(out0), H(g[0])) if upper else (out0, g[0])
    phi = H(L).matmul(gL).tril()
    phi = phi - 0.5 * embedded(diagonal(phi), phi)
    half = op.linalg_solve_triangular(H(L), phi, upper=True)
    whole = op.linalg_solve_triangular(L, half, upper=False, left=False)
    return ((whole + H(whole)) * 0.5,)


# QR: Roberts and Roberts 2020


def _qr_tall(gQ: Any, gR: Any, Q: Any, R: Any) -> Any:
    """At least as many rows as columns."""
    M = (gR.matmul(H(R)) - H(Q).matmul(gQ)).triu()
    M = M + H(M)
    M = M - 0.5 * embedded(diagonal(M), M)
    return op.linalg_solve_triangular(H(R), gQ + Q.matmul(M), upper=False, left=False)


@gradients(op.qr_pair, "A")
def _(g: Any, needs: Any, A: Any, mode: str, out0: Any, out1: Any) -> Any:
    M, N = A.shape[-2:]
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which mode='r' does not compute; use mode='reduced'")
    if mode == "complete" and M > N:
        raise RuntimeError(
            f"The QR decomposition is not differentiable when mode='complete' and nrows > ncols, got {M} and {N}; use 'reduced'"
        )
    gQ, gR = g
    if M >= N:
        return (_qr_tall(gQ, gR, out0, out1),)
    right, to_right = A.narrow(-1, M, N - M), gR.narrow(-1, M, N - M)
    left = _qr_tall(gQ + right.matmul(H(to_right)), gR.narrow(-1, 0, M), out0, out1.narrow(-1, 0, M))
    return (op.cat([left, out0.matmul(to_right)], -1),)


def _refuse_phases(change: Any, what: str) -> None:
    """Complex vectors are known but for a factor of modulus 1; a loss that depends on it has no gradient: RuntimeError.

    `change`: how the loss changes with each vector's phase.
    """
    if not is_complex(change) or change._key.level is not None or change.is_meta or SCOPES.pushing:
        return
    if bool((change.imag.abs() > 1e-2).any()):
        raise RuntimeError(
            f"{what} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function depends "
            f"on this quantity, so it is ill-defined."
        )


# Singular values: Wan and Zhang 2019, equation 11


@gradients(op.svd_triple, "A")
def _(g: Any, needs: Any, full_matrices: bool, out0: Any, out1: Any, out2: Any) -> Any:
    M, N, K = out0.shape[-2], out2.shape[-1], out1.shape[-1]
    if full_matrices and M != N and _uses_hidden(g, K):
        raise RuntimeError(
            f"svd_backward: the vectors beyond the first {K} are not unique, so they have no gradient; use full_matrices=False"
        )
    U, S, Vh = out0.narrow(-1, 0, K), out1, out2.narrow(-2, 0, K)
    gU, gS, gVh = g[0].narrow(-1, 0, K), g[1], g[2].narrow(-2, 0, K)
    V, gV, wide = H(Vh), H(gVh), S.to(U.dtype)
    left, right = H(U).matmul(gU), H(V).matmul(gV)
    _refuse_phases(diagonal(left) + diagonal(right), "svd_backward: The singular vectors")
    left, right = left - H(left), right - H(right)
    E = _square_differences(S).to(U.dtype)
    inner = quotient(left, E) * wide.unsqueeze(-2) + wide.unsqueeze(-1) * quotient(right, E)
    inner = without_diagonal(inner) + embedded(gS, U)
    if is_complex(U):
        inner = inner + embedded(quotient(diagonal(left), 2 * wide), U)
    result = U.matmul(inner).matmul(Vh)
    if M > K:
        outside = quotient(gU, wide.unsqueeze(-2))
        result = result + (outside - U.matmul(H(U).matmul(outside))).matmul(Vh)
    if N > K:
        outside = H(quotient(gV, wide.unsqueeze(-2)))
        result = result + U.matmul(outside - outside.matmul(V).matmul(Vh))
    return (result,)


def _uses_hidden(g: Any, K: int) -> bool:
    gU, _, gVh = g
    return anywhere(gU.narrow(-1, K, gU.shape[-1] - K) != 0) or anywhere(gVh.narrow(-2, K, gVh.shape[-2] - K) != 0)


def _square_differences(S: Any) -> Any:
    """S_j^2 - S_i^2 at (i, j), as a product, which loses fewer digits; 1 on the diagonal."""
    sums = S.unsqueeze(-2) + S.unsqueeze(-1)
    E = (S.unsqueeze(-2) - S.unsqueeze(-1)) * sums
    return without_diagonal(E) + embedded(op.ones_like(S), E)


# Eigenvalues: Giles 2008, section 3.1; the vectors of `eig` are normalised, which takes a part away


@gradients(op.eigh_pair, "A")
def _(g: Any, needs: Any, out0: Any, out1: Any) -> Any:
    V = out1
    projected = H(V).matmul(g[1])
    _refuse_phases(diagonal(projected), "linalg_eigh_backward: The eigenvectors")
    inner = without_diagonal(quotient(projected, differences(out0).to(V.dtype))) + embedded(g[0], V)
    result = V.matmul(inner).matmul(H(V))
    return ((result + H(result)) * 0.5,)


@gradients(op.eig_pair, "A")
def _(g: Any, needs: Any, A_dtype: Any, out0: Any, out1: Any) -> Any:
    values, V = out0, out1
    VH = H(V)
    projected = VH.matmul(g[1])
    _refuse_phases(diagonal(projected), "linalg_eig_backward: The eigenvectors")
    lengths = VH.matmul(V) * diagonal(projected).real.to(V.dtype).unsqueeze(-2)
    inner = without_diagonal(quotient(projected - lengths, conj(differences(values)))) + embedded(g[0], V)
    result = solve(VH, inner.matmul(VH))
    return (result if A_dtype.is_complex else result.real,)


# LU: the part of each factor's gradient that its triangle lets through


@gradients(op.lu_packed, "A", results=(0,))
def _(g: Any, needs: Any, out0: Any, out1: Any, pivot: bool) -> Any:
    M, N = out0.shape[-2:]
    K = min(M, N)
    one = op.eye(K, dtype=out0.dtype, device=out0.device)
    L, U = out0.narrow(-1, 0, K), out0.narrow(-2, 0, K)
    L1, U1 = L.narrow(-2, 0, K).tril(-1) + one, U.narrow(-1, 0, K).triu()
    gL, gU = g[0].narrow(-1, 0, K).tril(-1), g[0].narrow(-2, 0, K).triu()
    below, above = H(L1).matmul(gL.narrow(-2, 0, K)), gU.narrow(-1, 0, K).matmul(H(U1))
    if N > K:
        below = below - gU.narrow(-1, K, N - K).matmul(H(U.narrow(-1, K, N - K)))
    if M > K:
        above = above - H(L.narrow(-2, K, M - K)).matmul(gL.narrow(-2, K, M - K))
    inner = below.tril(-1) + above.triu()
    triangular = op.linalg_solve_triangular
    result = triangular(H(U1), inner, upper=False, left=False)
    if N > K:
        result = op.cat([result, gU.narrow(-1, K, N - K)], -1)
    result = triangular(H(L1), result, upper=True, unitriangular=True)
    if M > K:
        result = op.cat([result, triangular(H(U1), gL.narrow(-2, K, M - K), upper=False, left=False)], -2)
    if not pivot:
        return (result,)
    order = op.pivot_order(out1, M).unsqueeze(-1).expand(result.shape)
    return (op.zeros_like(result).scatter(-2, order, result),)


gradient(
    op.linalg_cross,
    input=lambda g, other, dim: op.linalg_cross(conj(other), g, dim=dim),
    other=lambda g, input, dim: op.linalg_cross(g, conj(input), dim=dim),
)
