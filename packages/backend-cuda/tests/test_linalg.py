"""Linear algebra on the device against NumPy's LAPACK, by what it means: vectors are unique but for signs and phases.

In the interpreter the same code runs over SciPy's LAPACK, on the same column-major stacks as over cuSOLVER; test_stub.py has
what cuSOLVER is called with.
"""

from __future__ import annotations

import itertools
import warnings
from unittest.mock import MagicMock

import numpy as np
import pytest

import tenfold
from tenfold.cuda import runtime, solver

pytest.importorskip("tenfold.scientific")
stacks = pytest.importorskip("tenfold.cuda.kernels.stacks")
scipy_linalg = pytest.importorskip("scipy.linalg")
linalg, op = tenfold.linalg, tenfold.op
DTYPES = (np.float32, np.float64, np.complex64, np.complex128)
BATCHES = ((), (2, 3))
by_dtype = pytest.mark.parametrize("dtype", DTYPES)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else a.astype(dtype)


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def positive(shape, dtype):
    a = numbers(shape, dtype)
    return (a @ adjoint(a) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def layouts(a):
    """The array on the device row by row, column by column, and with gaps."""
    yield tenfold.tensor(a, device="cuda")
    yield tenfold.tensor(np.ascontiguousarray(a.swapaxes(-1, -2)), device="cuda").mT
    wider = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wider[..., ::2] = a
    yield tenfold.tensor(wider, device="cuda")[..., ::2]


def host(t):
    return t.cpu().numpy() if isinstance(t, tenfold.Tensor) else t


def close(got, expected):
    got, expected = host(got), host(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    tolerance = 2e-3 if got.dtype.char in "fF" else 1e-9
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@by_dtype
def test_systems_inverses_and_determinants(dtype):
    for batch in BATCHES:
        a, b = numbers((*batch, 5, 5), dtype) + 2 * np.eye(5, dtype=dtype), numbers((*batch, 5, 3), dtype, 1)
        for A in layouts(a):
            for B in layouts(b):
                X, info = op.solve_pair(A, B)
                close(a @ host(X), b)
                assert info.dtype is tenfold.int32
                assert not host(info).any()
            close(op.inverse_pair(A)[0], np.linalg.inv(a))
            close(linalg.det(A), np.asarray(np.linalg.det(a)))
            sign, size = linalg.slogdet(A)
            close(sign, np.asarray(np.linalg.slogdet(a)[0]))
            close(size, np.asarray(np.linalg.slogdet(a)[1]))
        close(linalg.solve(A, tenfold.tensor(b, device="cuda").mT, left=False), b.swapaxes(-1, -2) @ np.linalg.inv(a))


@by_dtype
def test_cholesky(dtype):
    for batch, upper in itertools.product(BATCHES, (False, True)):
        a, b = positive((*batch, 5, 5), dtype), numbers((*batch, 5, 3), dtype, 1)
        L = np.linalg.cholesky(a)
        given = np.triu(a) if upper else np.tril(a)  # the other triangle is not read
        for A in layouts(given):
            factor, info = linalg.cholesky_ex(A, upper=upper)
            close(factor, adjoint(L) if upper else L)
            assert not host(info).any()
        for F in layouts(host(factor) + np.where(host(factor) == 0, 7, 0).astype(dtype)):  # nor is that of a factor
            close(tenfold.cholesky_solve(tenfold.tensor(b, device="cuda"), F, upper), np.linalg.solve(a, b))
            close(tenfold.cholesky_inverse(F, upper), np.linalg.inv(a))


@by_dtype
def test_triangles(dtype):
    for batch, upper, unit, left in itertools.product(BATCHES, *[(False, True)] * 3):
        a, b = numbers((*batch, 4, 4), dtype) + 3 * np.eye(4, dtype=dtype), numbers((*batch, 4, 3), dtype, 1)
        triangle = np.triu(a) if upper else np.tril(a)
        if unit:
            triangle = triangle - triangle * np.eye(4, dtype=dtype) + np.eye(4, dtype=dtype)
        expected = np.linalg.solve(triangle if left else triangle.swapaxes(-1, -2), b)
        for A, B in zip(layouts(a), layouts(b)):
            X = linalg.solve_triangular(A, B if left else B.mT, upper=upper, unitriangular=unit, left=left)
            close(X if left else X.mT, expected)


@by_dtype
def test_lu_with_and_without_exchanges(dtype):
    for batch, (M, N) in itertools.product(BATCHES, ((4, 4), (5, 3), (3, 5))):
        a = numbers((*batch, M, N), dtype)
        for A in layouts(a):
            P, L, U = linalg.lu(A)
            close(P @ L @ U, a)
            assert host(abs(L)).max() <= 1.0001 or dtype in (np.complex64, np.complex128)
            LU, pivots, info = linalg.lu_factor_ex(A)
            assert (pivots.dtype, pivots.shape, info.shape) == (tenfold.int32, (*batch, min(M, N)), batch)
            if not batch and (runtime.is_replaced() or np.dtype(dtype).kind == "f"):  # of complex numbers sizes may differ
                expected = scipy_linalg.lapack.get_lapack_funcs("getrf", (a,))(a)
                close(LU, expected[0])
                assert (host(pivots) == expected[1] + 1).all()
            _, L, U = linalg.lu(A, pivot=False)
            close(L @ U, a)
    LU, pivots = linalg.lu_factor(tenfold.tensor(numbers((2, 4, 4), dtype), device="cuda"))
    b = tenfold.tensor(numbers((2, 4, 3), dtype, 1), device="cuda")
    close(linalg.lu_solve(LU, pivots, b), np.linalg.solve(numbers((2, 4, 4), dtype), host(b)))


def test_the_order_of_rows_after_exchanges():
    pivots = tenfold.tensor(np.random.default_rng(0).integers(1, 7, (3, 40, 5)), dtype=tenfold.int32)
    order = op.pivot_order(pivots.cuda(), 6)
    assert (order.dtype, order.is_cuda) == (tenfold.int64, True)
    assert tenfold.equal(order.cpu(), op.pivot_order(pivots, 6))
    assert op.pivot_order(pivots[:0].cuda(), 6).shape == (0, 40, 6)
    assert op.pivot_order(pivots[..., :0].cuda(), 3)[0, 0].tolist() == [0, 1, 2]


@by_dtype
def test_qr(dtype):
    for batch, (M, N), mode in itertools.product(BATCHES, ((5, 3), (3, 5), (4, 4)), ("reduced", "complete", "r")):
        a = numbers((*batch, M, N), dtype)
        for A in layouts(a):
            Q, R = linalg.qr(A, mode)
            rows = M if mode == "complete" else min(M, N)
            assert R.shape == (*batch, rows, N)
            assert (host(R) == np.triu(host(R))).all()
            if mode == "r":
                assert Q.shape == (0,)
                close(adjoint(host(R)) @ host(R), adjoint(a) @ a)
            else:
                assert Q.shape == (*batch, M, rows)
                close(Q @ R, a)
                close(adjoint(host(Q)) @ host(Q), np.broadcast_to(np.eye(rows, dtype=dtype), (*batch, rows, rows)))
        packed, tau = tenfold.geqrf(A)
        close(tenfold.geqrf(A.cpu())[0], packed)
        close(tenfold.geqrf(A.cpu())[1], tau)


@by_dtype
def test_products_of_reflections(dtype):
    for batch, (M, N) in itertools.product(BATCHES, ((5, 3), (4, 4))):
        packed, tau = tenfold.geqrf(tenfold.tensor(numbers((*batch, M, N), dtype), device="cuda"))
        for A in (packed, packed.contiguous()):
            for K in (N, N - 1):
                close(linalg.householder_product(A, tau[..., :K]), linalg.householder_product(A.cpu(), tau[..., :K].cpu()))
            for left, transpose in itertools.product((False, True), repeat=2):
                C = tenfold.tensor(numbers((*batch, M, 2), dtype, 1), device="cuda")
                C = C if left else C.mT
                close(tenfold.ormqr(A, tau, C, left, transpose), tenfold.ormqr(A.cpu(), tau.cpu(), C.cpu(), left, transpose))


@by_dtype
@pytest.mark.parametrize("converges", [True, False])
def test_singular_values(dtype, converges, monkeypatch):
    if not converges:  # as cuSOLVER tells it of Jacobi rotations; iterations follow
        rotated = type(stacks.current()).gesvdj
        failing = lambda self, *arguments: (*rotated(self, *arguments)[:3], rotated(self, *arguments)[3] + 1)  # noqa: E731
        monkeypatch.setattr(type(stacks.current()), "gesvdj", failing)
    for batch, (M, N), full in itertools.product(BATCHES, ((5, 3), (3, 5), (4, 4)), (False, True)):
        a, K = numbers((*batch, M, N), dtype), min(M, N)
        for A in layouts(a):
            U, S, Vh = map(host, linalg.svd(A, full_matrices=full))
            close(S, np.linalg.svd(a, compute_uv=False))
            close((U[..., :K] * S[..., None, :]) @ Vh[..., :K, :], a)
            close(adjoint(U) @ U, np.broadcast_to(np.eye(M if full else K, dtype=dtype), (*batch, *[M if full else K] * 2)))
            close(Vh @ adjoint(Vh), np.broadcast_to(np.eye(N if full else K, dtype=dtype), (*batch, *[N if full else K] * 2)))
        close(linalg.svdvals(A), np.linalg.svd(a, compute_uv=False))
        close(linalg.pinv(A), np.linalg.pinv(a))


@by_dtype
def test_eigenvalues(dtype):
    for batch in BATCHES:
        a = numbers((*batch, 5, 5), dtype)
        for A, uplo in itertools.product(layouts(a), "LUu"):
            triangle = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
            full = triangle + adjoint(triangle) + a.real * np.eye(5, dtype=dtype)
            w, V = map(host, linalg.eigh(A, uplo))
            close(w, np.linalg.eigvalsh(full))
            close((V * w[..., None, :]) @ adjoint(V), full)
            close(linalg.eigvalsh(A, uplo), w)
        for A in layouts(a):
            w, V = map(host, linalg.eig(A))
            close(a.astype(V.dtype) @ V, V * w[..., None, :])
            close(np.linalg.norm(V, axis=-2), np.ones_like(w.real))
            close(np.sort(abs(w)), np.sort(abs(np.linalg.eigvals(a))).astype(w.real.dtype))
        close(linalg.pinv(tenfold.tensor(full, device="cuda"), hermitian=True), np.linalg.pinv(full))


@by_dtype
def test_symmetric_indefinite(dtype):
    for batch, hermitian in itertools.product(BATCHES, (False, True)):
        a, b = numbers((*batch, 5, 5), dtype), numbers((*batch, 5, 2), dtype, 1)
        a = a + (adjoint(a) if hermitian else a.swapaxes(-1, -2))
        for A in layouts(a):
            LD, pivots, info = linalg.ldl_factor_ex(A, hermitian=hermitian)
            on_cpu = linalg.ldl_factor_ex(A.cpu(), hermitian=hermitian)
            if runtime.is_replaced():  # the choice of pivots is the library's
                close(LD, on_cpu[0])
                assert (host(pivots) == host(on_cpu[1])).all()
            assert not host(info).any()
        close(a @ host(linalg.ldl_solve(LD, pivots, tenfold.tensor(b, device="cuda"), hermitian=hermitian)), b)


def test_matrices_without_a_result_have_codes():
    singular = tenfold.tensor([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], device="cuda")
    for call in (linalg.inv_ex, linalg.lu_factor_ex, lambda A: linalg.solve_ex(A, A)):
        assert call(singular)[-1].tolist() == [2, 1, 0]
    assert linalg.det(singular).tolist() == [0, 0, 1]
    assert linalg.slogdet(singular).sign.tolist() == [0, 0, 1]
    assert linalg.slogdet(singular).logabsdet.tolist() == [-np.inf, -np.inf, 0]
    assert linalg.slogdet(singular[2] * np.nan).sign.item() == 0  # PyTorch's sign of NaN
    assert linalg.ldl_factor_ex(tenfold.zeros(2, 2, device="cuda")).info.item() == 1
    negative = tenfold.tensor([[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]], device="cuda")
    assert linalg.cholesky_ex(negative).info.tolist() == [2, 1, 0]
    for call, words in (
        (linalg.inv, "diagonal element 2 is zero"), (lambda A: linalg.solve(A, A), "input matrix is singular"),
        (linalg.lu_factor, r"U\[2,2\] is zero"), (linalg.cholesky, "leading minor of order 2"),
    ):  # fmt: skip
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 0\): .*" + words):
            call(negative if call is linalg.cholesky else singular)
    infinite = linalg.solve_triangular(tenfold.zeros(1, 1, device="cuda"), tenfold.ones(1, 1, device="cuda"), upper=True)
    assert infinite.item() == np.inf


@by_dtype
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 5, 5), (4, 2, 7), (70, 65)])
def test_matrices_that_are_not_finite_are_zeros(dtype, shape):
    given = numbers(shape, dtype)
    if len(shape) == 4:
        given[0, 1, 4, 0], given[1, 2, 0, 3], given[1, 0, 2, 2] = np.nan, np.inf, -np.inf
    A = tenfold.tensor(given, device="cuda")._array
    turned = tenfold.tensor(given.swapaxes(-1, -2).copy(), device="cuda").mT._array
    for triangle, cut in ((stacks.WHOLE, lambda a: a), (stacks.LOWER_ONE, np.tril), (stacks.UPPER_ONE, np.triu)):
        expected = cut(given.reshape(-1, *shape[-2:]))
        finite = np.isfinite(expected).all((-2, -1))
        expected = np.where(finite[:, None, None], expected, 0)
        for array, across in itertools.product((A, turned), (False, True)):
            stack, codes = stacks.finite_stack(array, triangle, across)
            to_host = runtime.current().to_host
            np.testing.assert_array_equal(to_host(stack), expected if across else expected.swapaxes(-1, -2))
            np.testing.assert_array_equal(to_host(codes), np.where(finite, 0, stacks.NOT_FINITE))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_iterations_refuse_what_is_not_finite(bad):
    a = tenfold.eye(3, device="cuda").expand(2, 3, 3).clone()
    a[1, 0, 2] = bad
    for call in (linalg.svd, linalg.svdvals, lambda A: linalg.eigh(A, "U"), lambda A: linalg.eigvalsh(A, "U"), linalg.pinv):
        with pytest.raises(linalg.LinAlgError, match=r"Batch element 1.*contained non-finite values"):
            call(a)
    with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
        linalg.eig(a)
    assert linalg.eigvalsh(a, "L").tolist() == [[1, 1, 1]] * 2  # the other triangle is not read


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 4, 4), (2, 0, 3, 3), (2, 0, 0)])
def test_what_is_empty(shape):
    cpu, cuda = tenfold.zeros(shape), tenfold.zeros(shape, device="cuda")
    calls = [
        linalg.svdvals, linalg.svd, linalg.qr, lambda A: linalg.qr(A, "complete"), lambda A: linalg.qr(A, "r"), tenfold.geqrf,
        linalg.lu_factor_ex, linalg.lu, linalg.pinv, lambda A: linalg.svd(A, full_matrices=False),
    ]  # fmt: skip
    if shape[-1] == shape[-2]:
        calls += [
            linalg.inv_ex, linalg.det, linalg.slogdet, linalg.cholesky_ex, linalg.eigh, linalg.eig, linalg.eigvalsh,
            lambda A: linalg.solve_ex(A, A), lambda A: linalg.solve_ex(A, A[..., :0]), linalg.ldl_factor_ex,
            lambda A: linalg.solve_triangular(A, A, upper=True), lambda A: tenfold.cholesky_solve(A, A), tenfold.cholesky_inverse,
        ]  # fmt: skip
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, got = call(cpu), call(cuda)
        for e, g in zip(*[r if isinstance(r, tuple) else (r,) for r in (expected, got)], strict=True):
            assert (g.shape, g.dtype, g.is_cuda) == (e.shape, e.dtype, True)
            assert tenfold.equal(g.cpu(), e)


def test_other_dtypes_are_refused():
    for dtype in (tenfold.float16, tenfold.bfloat16, tenfold.int64):
        with pytest.raises(RuntimeError, match=r"Low precision dtypes|Expected a floating point"):
            linalg.svdvals(tenfold.ones(2, 2, dtype=dtype, device="cuda"))


def test_gradients():
    a = numbers((2, 3, 3), np.float64) + 2 * np.eye(3)
    calls = (
        linalg.inv, linalg.det, lambda A: linalg.qr(A).R.abs(), linalg.svdvals, lambda A: linalg.eigvalsh(A + A.mT),
        lambda A: linalg.cholesky(A @ A.mT), lambda A: linalg.lu(A).U, lambda A: linalg.solve(A, A.square()), linalg.pinv,
        lambda A: linalg.householder_product(A, A[..., 0]),
    )  # fmt: skip
    for call in calls:
        found = []
        for device in ("cpu", "cuda"):
            x = tenfold.tensor(a, device=device, requires_grad=True)
            call(x).square().sum().backward()
            found.append(x.grad)
        close(found[1], found[0])


def test_addresses_of_the_matrices_of_a_stack():
    cusolver = solver.CuSolver.__new__(solver.CuSolver)
    cusolver.cupy = np
    for shape in ((3, 4, 5), (1, 2, 2)):
        stack = MagicMock(strides=(8 * shape[1] * shape[2],))
        stack.__len__.return_value, stack.data.ptr = shape[0], 1 << 46
        expected = [(1 << 46) + i * 8 * shape[1] * shape[2] for i in range(shape[0])]
        assert cusolver._addresses(stack).tolist() == list(solver._each(stack)) == expected
        assert cusolver._addresses(stack).dtype == np.uintp


@pytest.mark.skipif(not runtime.is_replaced(), reason="on a GPU cuSOLVER is there")
def test_without_a_library_the_host_computes(monkeypatch):
    monkeypatch.setattr(stacks, "current", lambda: None)
    a = positive((2, 4, 4), np.float32)
    A = tenfold.tensor(a, device="cuda")
    close(linalg.inv(A), np.linalg.inv(a))
    close(linalg.eigvalsh(A), np.linalg.eigvalsh(a))
    close(linalg.cholesky(A), np.linalg.cholesky(a))
    close(linalg.householder_product(A, A[..., 0]), linalg.householder_product(A.cpu(), A.cpu()[..., 0]))
    close(linalg.svd(A).S, np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("function", [linalg.eigh, linalg.eigvalsh], ids=["eigh", "eigvalsh"])
def test_a_triangle_that_is_none_is_refused(function):
    for size in (0, 3):
        with pytest.raises(RuntimeError, match="Expected UPLO argument to be 'L' or 'U', but got x"):
            function(tenfold.ones(size, size, device="cuda"), UPLO="x")


def test_an_output_on_another_device_is_refused():
    A = tenfold.eye(3, device="cuda")
    for function in (linalg.inv, linalg.cholesky, tenfold.exp):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but out is on cpu, not cuda:0"):
            function(A, out=tenfold.empty(3, 3))


def test_the_inverse_by_a_factor_with_a_zero_on_its_diagonal_is_not_finite():
    L = tenfold.tensor([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 4.0, 5.0]], device="cuda")
    assert not tenfold.cholesky_inverse(L).isfinite().all()
    assert not tenfold.cholesky_inverse(L.mT.contiguous(), upper=True).isfinite().all()
