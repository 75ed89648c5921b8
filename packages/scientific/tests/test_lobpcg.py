"""A few extreme eigenvalues: found by a search or of a whole decomposition, they are those of linalg.eigh, with its gradients."""

import pytest

import tenfold

N = 300


@pytest.fixture
def matrix():
    tenfold.manual_seed(0)
    x = tenfold.randn(N, N, dtype=tenfold.float64)
    return x @ x.T / N + tenfold.diag(tenfold.linspace(1, 50, N, dtype=tenfold.float64))


def check(A, B, values, vectors, wanted):
    assert values.allclose(wanted, rtol=1e-10)
    product = vectors if B is None else B @ vectors
    assert (A @ vectors - product * values).norm().item() < 1e-5 * A.norm().item()
    assert (vectors.mT @ product - tenfold.eye(vectors.shape[1], dtype=A.dtype)).abs().max().item() < 1e-10


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("given", [{}, {"n": 5}, {"X": tenfold.eye(N, 4, dtype=tenfold.float64)}])
def test_the_search_finds_the_extremes(matrix, largest, given):
    values, vectors = tenfold.lobpcg(matrix, 3, largest=largest, **given)
    all_values = tenfold.linalg.eigvalsh(matrix)
    assert values.shape == (3,)
    assert vectors.shape == (N, 3)
    check(matrix, None, values, vectors, all_values.flip(0)[:3] if largest else all_values[:3])


def test_a_pencil_and_an_approximate_inverse(matrix):
    B = tenfold.diag(tenfold.linspace(1, 2, N, dtype=tenfold.float64))
    half = tenfold.diag(B.diag().rsqrt())
    wanted = tenfold.linalg.eigvalsh(half @ matrix @ half)
    for options in ({}, {"iK": tenfold.linalg.inv(matrix)}):
        values, vectors = tenfold.lobpcg(matrix, 2, B=B, largest=False, **options)
        check(matrix, B, values, vectors, wanted[:2])


def test_an_approximate_inverse_and_a_loose_tolerance_save_steps(matrix):
    counts = []
    for options in ({}, {"iK": tenfold.linalg.inv(matrix)}, {"tol": 1e-2}, {"niter": 2}):
        seen = []
        tenfold.manual_seed(1)
        tenfold.lobpcg(matrix, 2, largest=False, tracker=seen.append, **options)
        assert [p.iteration for p in seen] == list(range(1, len(seen) + 1))
        assert seen[-1].residual.shape == seen[-1].E.shape == (2,)
        counts.append(len(seen))
    plain, helped, loose, cut = counts
    assert helped < plain / 2
    assert loose < plain / 2
    assert cut == 2


def test_batches_and_small_matrices_are_the_same(matrix):
    part = matrix[:9, :9]
    values, vectors = tenfold.lobpcg(tenfold.stack([matrix, 2 * matrix]), 2)
    wanted = tenfold.linalg.eigvalsh(matrix).flip(0)[:2]
    assert vectors.shape == (2, N, 2)
    assert values.allclose(tenfold.stack([wanted, 2 * wanted]))
    assert tenfold.lobpcg(part, 2)[0].allclose(tenfold.lobpcg(part, 2, tracker=lambda progress: None)[0])


@pytest.mark.parametrize("largest", [True, False])
def test_gradients_and_second_gradients(largest):
    tenfold.manual_seed(2)
    x = tenfold.randn(6, 6, dtype=tenfold.float64)
    A = (x @ x.T / 6 + tenfold.diag(tenfold.arange(6.0, dtype=tenfold.float64))).requires_grad_()
    B = (tenfold.eye(6, dtype=tenfold.float64) * 2 + 0.1 * (x + x.T).tanh()).requires_grad_()

    def pairs(A, B=None):
        values, vectors = tenfold.lobpcg(A, 2, B, largest=largest)
        signs = vectors.gather(0, vectors.abs().max(0, keepdim=True).indices).sign()
        return values, vectors * signs

    assert tenfold.autograd.gradcheck(pairs, A)
    assert tenfold.autograd.gradgradcheck(pairs, A)
    assert tenfold.autograd.gradcheck(pairs, (A, B))
    (g,) = tenfold.autograd.grad(pairs(A)[1].sum(), A)
    assert g.allclose(g.mT)


def test_what_does_not_fit():
    for A, k, kind, words in (
        (tenfold.ones(3, 4), 1, AssertionError, "must be square"),
        (tenfold.ones(9, 9), 4, ValueError, r"A rows \(=9\) is smaller than 3 x"),
        (tenfold.ones(9, 9, dtype=tenfold.int64), 1, RuntimeError, "real floating dtype"),
    ):
        with pytest.raises(kind, match=words):
            tenfold.lobpcg(A, k)
