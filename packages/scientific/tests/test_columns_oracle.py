"""Results of linear algebra lie column by column in memory, as in PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402

SQUARE = {
    "inv": lambda t, a: t.linalg.inv(a),
    "inv_ex": lambda t, a: t.linalg.inv_ex(a),
    "cholesky": lambda t, a: t.linalg.cholesky(a),
    "cholesky upper": lambda t, a: t.linalg.cholesky(a, upper=True),
    "cholesky_inverse": lambda t, a: t.cholesky_inverse(a),
    "eigh": lambda t, a: t.linalg.eigh(a),
    "eig": lambda t, a: t.linalg.eig(a),
    "ldl": lambda t, a: t.linalg.ldl_factor(a),
    "solve": lambda t, a: t.linalg.solve(a, a),
    "solve_triangular": lambda t, a: t.linalg.solve_triangular(a, a, upper=True),
    "pinv": lambda t, a: t.linalg.pinv(a),
    "matrix_power": lambda t, a: t.linalg.matrix_power(a, 2),
}
ANY = {
    "qr": lambda t, a: t.linalg.qr(a),
    "qr complete": lambda t, a: t.linalg.qr(a, mode="complete"),
    "qr r": lambda t, a: t.linalg.qr(a, mode="r"),
    "svd": lambda t, a: t.linalg.svd(a),
    "svd reduced": lambda t, a: t.linalg.svd(a, full_matrices=False),
    "older svd": lambda t, a: t.svd(a),
    "lu_factor": lambda t, a: t.linalg.lu_factor(a),
    "lu": lambda t, a: t.linalg.lu(a),
    "geqrf": lambda t, a: t.geqrf(a),
}


def strides(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [(tuple(part.shape), part.stride()) for part in parts]


@pytest.mark.parametrize("name", [*SQUARE, *ANY])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_strides_are_pytorchs(name, dtype):
    function = {**SQUARE, **ANY}[name]
    sizes = [(1, 1), (3, 3), (5, 5)] + ([] if name in SQUARE else [(2, 4), (4, 2), (1, 3), (3, 1)])
    for batch in ((), (2,), (1,), (2, 3)):
        for size in sizes:
            base = torch.randn(*batch, *size, dtype=torch.float64)
            if name in SQUARE:
                base = base @ base.mT + 3 * torch.eye(size[0], dtype=torch.float64)
            given = base.to(getattr(torch, dtype))
            ours = strides(function(tenfold, tenfold.tensor(given.numpy())))
            assert ours == strides(function(torch, given)), (name, batch, size)


def test_matrices_that_cannot_be_factored_lie_by_columns_too():
    singular = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
    for t in (torch, tenfold):
        both = t.tensor([singular, [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]])
        inverse, info = t.linalg.inv_ex(both)
        assert (inverse.stride(), info.tolist()) == ((9, 1, 3), [2, 0])
        factor, info = t.linalg.cholesky_ex(both - 3 * t.eye(3))
        assert (factor.stride(), info.tolist()) == ((9, 1, 3), [1, 1])
