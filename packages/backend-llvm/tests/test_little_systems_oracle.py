"""Systems and Cholesky factors of small matrices in compiled loops, against PyTorch and the ordinary way."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import outcome, results, same_both_ways, seen_whole

import tenfold
from tenfold.llvm.kernels import little_systems
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
CALLS = {
    "cholesky": lambda lib, A, B: lib.linalg.cholesky(A @ A.mT + lib.eye(A.shape[-1], dtype=A.dtype)),
    "cholesky upper": lambda lib, A, B: lib.linalg.cholesky(A.mT @ A + lib.eye(A.shape[-1], dtype=A.dtype), upper=True),
    "cholesky_ex": lambda lib, A, B: tuple(lib.linalg.cholesky_ex(A @ A.mT + lib.eye(A.shape[-1], dtype=A.dtype))),
    "cholesky of others": lambda lib, A, B: lib.linalg.cholesky(A),
    "cholesky_ex of others": lambda lib, A, B: lib.linalg.cholesky_ex(-A.mT @ A)[1],
    "inv": lambda lib, A, B: lib.linalg.inv(A),
    "inverse": lambda lib, A, B: A.mT.inverse(),
    "inv_ex": lambda lib, A, B: tuple(lib.linalg.inv_ex(A)),
    "solve": lambda lib, A, B: lib.linalg.solve(A, B),
    "solve from the right": lambda lib, A, B: lib.linalg.solve(A, B.mT, left=False),
    "solve_ex": lambda lib, A, B: tuple(lib.linalg.solve_ex(A, B, check_errors=True)),
    "solve of columns": lambda lib, A, B: lib.linalg.solve(A.mT, B.mT.contiguous().mT),
    "solve that does not fit": lambda lib, A, B: lib.linalg.solve(A, B[..., :-1, :]),
    "solve_triangular": lambda lib, A, B: lib.linalg.solve_triangular(A + 9 * lib.eye(A.shape[-1], dtype=A.dtype), B, upper=True),
    "solve_triangular of units": lambda lib, A, B: lib.linalg.solve_triangular(A / 9, B, upper=False, unitriangular=True),
    "lu_solve": lambda lib, A, B: lib.linalg.lu_solve(*lib.linalg.lu_factor(A), B),
    "lu_solve of the adjoint": lambda lib, A, B: lib.linalg.lu_solve(*lib.linalg.lu_factor(A), B, adjoint=True),
    "lu": lambda lib, A, B: tuple(lib.linalg.lu(A)),
    "lu_unpack of more rows": lambda lib, A, B: tuple(lib.lu_unpack(*lib.linalg.lu_factor(B))),
    "lu_unpack of more columns": lambda lib, A, B: tuple(lib.lu_unpack(*lib.linalg.lu_factor(B.mT))),
    "lu_unpack in part": lambda lib, A, B: tuple(lib.lu_unpack(*lib.linalg.lu_factor(A), unpack_pivots=False)),
    "lu_unpack of wrong pivots": lambda lib, A, B: tuple(lib.lu_unpack(A, lib.full(A.shape[:-1], 40, dtype=lib.int32))),
}
SHAPES = [(1,), (2,), (5,), (8,), (15,), (16,), (17,), (32,), (33,), (3, 4), (2, 2, 6)]


def _refused(ours, theirs, what):
    """Whether PyTorch refuses a call, and Tenfold by an error of the same name."""
    if isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__.lstrip("_"), (what, ours, theirs)
        return True
    assert not isinstance(ours, Exception), (what, ours)
    return False


def _given(shape, dtype):
    *batch, N = shape
    rng = np.random.default_rng(N)
    return rng.standard_normal((*batch, N, N)).astype(dtype), rng.standard_normal((*batch, N, 3)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_pytorchs(name, dtype):
    for shape in SHAPES:
        given = _given(shape, dtype)
        ours, theirs = (outcome(CALLS[name], lib, *map(lib.from_numpy, given)) for lib in (tenfold, torch))
        if _refused(ours, theirs, (name, shape)):
            continue
        for a, b in zip(*(y if isinstance(y, tuple) else (y,) for y in (ours, theirs)), strict=True):
            np.testing.assert_allclose(a.numpy(), b.resolve_conj().numpy(), rtol=5e-3 if dtype == "float32" else 1e-8, atol=1e-3)
            assert str(a.dtype).rpartition(".")[2] == str(b.dtype).rpartition(".")[2]
            assert a.stride() == b.stride() or "adjoint" in name  # which is solved as it lies, in PyTorch column by column


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_the_ordinary_way(name, dtype):
    tenfold.exp(tenfold.ones(3))  # brings native code
    if session().paths is None:
        pytest.skip("no native call paths here")
    for shape in ((4,), (2, 3)):
        for mode in ("enable_grad", "no_grad", "inference_mode"):
            A, B = map(tenfold.from_numpy, _given(shape, dtype))
            A.requires_grad_(mode == "no_grad")
            with getattr(tenfold, mode)():
                same_both_ways(lambda A=A, B=B: results(lambda: CALLS[name](tenfold, A, B), seen_whole), (shape, mode))


def _odd():
    """Matrices that are singular, or have an element that is not finite."""
    good = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
    yield np.zeros((3, 3))
    yield np.array([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [0.5, 1.0, 3.0]])
    for value in (np.nan, np.inf, -np.inf):
        for place in ((0, 0), (1, 1), (2, 0), (0, 2)):
            bad = good.copy()
            bad[place] = value
            yield bad
            yield np.stack([good, bad])


@pytest.mark.parametrize("name", ["inv", "inv_ex", "solve", "solve_ex"])
def test_what_has_no_finite_result_is_the_ordinary_ways(name):
    for A in _odd():
        given = [tenfold.from_numpy(A), tenfold.from_numpy(np.ones((*A.shape[:-1], 2)))]
        pair = little_systems.solution(A, None)
        assert np.isfinite(pair[0][pair[1] == 0]).all()
        theirs = outcome(CALLS[name], torch, *[torch.from_numpy(x.numpy()) for x in given])
        _refused(outcome(CALLS[name], tenfold, *given), theirs, A)


def test_matrices_that_are_not_positive_definite():
    for A in (*_odd(), np.array([[1.0, 2.0], [2.0, 1.0]]), -np.eye(2)):
        ours, theirs = (lib.linalg.cholesky_ex(lib.from_numpy(A)) for lib in (tenfold, torch))
        if np.isfinite(A).all():
            np.testing.assert_array_equal(ours.info.numpy(), theirs.info.numpy())
        assert _refused(*(outcome(lib.linalg.cholesky, lib.from_numpy(-np.eye(3))) for lib in (tenfold, torch)), A)


@pytest.mark.parametrize("name", ["inv_ex", "cholesky_ex"])
def test_matrices_beside_others_that_have_no_result(name):
    good = np.random.default_rng(2).standard_normal((4, 4)).astype(np.float32)
    good = good @ good.T + np.eye(4, dtype=np.float32)
    batch = np.stack([good, np.full_like(good, np.nan), -good, np.zeros_like(good), good])
    call = getattr(tenfold.linalg, name)
    found, alone = call(tenfold.from_numpy(batch)), call(tenfold.from_numpy(good))
    for k in (0, 4):
        np.testing.assert_array_equal(found[0][k].numpy(), alone[0].numpy())
    assert [bool(n) for n in found.info.tolist()][2:] == [name == "cholesky_ex", True, False]


def test_pivots_beyond_are_refused():
    LU, _ = tenfold.linalg.lu_factor(tenfold.eye(3))
    for pivots in ([1, 2, 4], [0, 2, 3]):
        with pytest.raises(RuntimeError, match="Pivots"):
            tenfold.linalg.lu_solve(LU, tenfold.tensor(pivots, dtype=tenfold.int32), tenfold.eye(3))


def test_which_are_left_to_the_kernel_beneath():
    for A in (np.eye(40), np.eye(3, dtype=np.complex64), np.ones((2, 3)), np.ones(3), np.ones((0, 2, 2))):
        assert little_systems.solution(A, None) is NotImplemented
        assert little_systems.factor(A, False) is NotImplemented
    assert little_systems.solution(np.eye(30), np.ones((30, 90))) is NotImplemented
