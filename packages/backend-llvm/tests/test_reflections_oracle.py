"""QR factors of small matrices and products of reflections in compiled loops, against PyTorch and the ordinary way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from compared_calls import results, same_both_ways, seen_whole

import tenfold
from tenfold.llvm.kernels import reflections
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
SHAPES = [(*batch, M, N) for batch in ((), (3,)) for M, N in itertools.product((1, 2, 5, 20, 21), (1, 3, 5, 20))]
CALLS = {
    "qr": lambda lib, A: tuple(lib.linalg.qr(A)),
    "qr complete": lambda lib, A: tuple(lib.linalg.qr(A, "complete")),
    "qr of R": lambda lib, A: tuple(lib.linalg.qr(A, "r")),
    "geqrf": lambda lib, A: tuple(lib.geqrf(A)),
    "householder_product": lambda lib, A: (lib.linalg.householder_product(*lib.geqrf(A)),),
    "ormqr": lambda lib, A: (lib.ormqr(*lib.geqrf(A), A.flip(-1)),),
    "ormqr transposed": lambda lib, A: (lib.ormqr(*lib.geqrf(A), A, transpose=True),),
    "ormqr from the right": lambda lib, A: (lib.ormqr(*lib.geqrf(A), A.mT, False),),
}


def _matrix(lib, shape, dtype):
    return lib.from_numpy(np.random.default_rng(shape[-1]).standard_normal(shape).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_pytorchs(name, dtype):
    limit = 1e-4 if dtype == "float32" else 1e-11
    for shape in SHAPES:
        if name.startswith(("house", "ormqr")) and shape[-2] < shape[-1]:
            continue
        for a, b in zip(*(CALLS[name](lib, _matrix(lib, shape, dtype)) for lib in (tenfold, torch)), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=limit, atol=limit)
            assert [s for s, n in zip(a.stride(), a.shape, strict=True) if n > 1] == [
                s for s, n in zip(b.stride(), b.shape, strict=True) if n > 1
            ] or name == "ormqr from the right"


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_the_ordinary_way(name):
    tenfold.exp(tenfold.ones(3))  # brings native code
    if session().paths is None:
        pytest.skip("no native call paths here")

    def told(y):
        """What is told of a result but for its last places: the ordinary way adds up products in another order."""
        whole = seen_whole(y)
        return whole if isinstance(y, Exception) else (np.round(y.detach().numpy(), 9).tolist(), whole[0][:3], *whole[1:])

    for shape in ((4, 4), (2, 5, 3)):
        for mode in ("enable_grad", "no_grad", "inference_mode"):
            A = _matrix(tenfold, shape, "float64").requires_grad_(mode == "no_grad")
            with getattr(tenfold, mode)():
                same_both_ways(lambda A=A: results(lambda: CALLS[name](tenfold, A), told), (shape, mode))


@pytest.mark.parametrize("value", [0.0, 1e-170, 1e-200, 1e200, np.inf, np.nan])
def test_columns_whose_length_squares_do_not_tell(value):
    for place in ((0, 0), (1, 0), (2, 1)):
        A = np.eye(3) + 1
        A[place] = value
        ours, theirs = (lib.linalg.qr(lib.from_numpy(A))[1].numpy() for lib in (tenfold, torch))
        if np.isfinite(value):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    tiny = np.full((3, 2), 1e-170)
    assert reflections.geqrf_lines(tiny) is NotImplemented
    np.testing.assert_allclose(*(lib.linalg.qr(lib.from_numpy(tiny))[1].numpy() for lib in (tenfold, torch)), atol=1e-180)


def test_which_are_left_to_the_kernel_beneath():
    for A in (np.ones((21, 2)), np.ones((2, 2), np.complex64), np.ones((0, 3)), np.ones(3)):
        assert reflections.qr_pair(A, "reduced") is NotImplemented
        assert reflections.geqrf_pair(A) is NotImplemented
    assert reflections.qr_pair(np.ones((2, 2)), "r") is NotImplemented
