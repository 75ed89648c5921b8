"""Linear algebra against PyTorch: gradients to second order, real and complex."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.autograd")


def spd(x: Any) -> Any:
    return x @ x.mH + x.new_tensor(np.eye(x.shape[-1]).tolist())


def absolutes(parts: Any) -> Any:
    """What does not depend on the sign or phase of vectors."""
    return [(p * p.conj()).real if p.is_complex() else p * p for p in parts]


CASES: dict[str, Any] = {
    "inv": ((3, 3), lambda lib, x: [lib.linalg.inv(x)]),
    "solve": ((3, 3), lambda lib, x: [lib.linalg.solve(x, x.mT[..., :2] * 2)]),
    "solve_right": ((3, 3), lambda lib, x: [lib.linalg.solve(x, x.mH, left=False)]),
    "triangular": ((3, 3), lambda lib, x: [lib.linalg.solve_triangular(x, x.mT, upper=True)]),
    "unitriangular": ((3, 3), lambda lib, x: [lib.linalg.solve_triangular(x, x.mT, upper=False, unitriangular=True)]),
    "det": ((3, 3), lambda lib, x: [lib.linalg.det(x)]),
    "slogdet": ((3, 3), lambda lib, x: list(lib.linalg.slogdet(x))),
    "cholesky": ((3, 3), lambda lib, x: [lib.linalg.cholesky(spd(x))]),
    "cholesky_upper": ((3, 3), lambda lib, x: [lib.linalg.cholesky(spd(x), upper=True)]),
    "cholesky_inverse": ((3, 3), lambda lib, x: [lib.cholesky_inverse(lib.linalg.cholesky(spd(x)))]),
    "cholesky_solve": ((3, 3), lambda lib, x: [lib.cholesky_solve(x, lib.linalg.cholesky(spd(x)))]),
    "qr": ((4, 3), lambda lib, x: absolutes(lib.linalg.qr(x))),
    "qr_wide": ((3, 4), lambda lib, x: absolutes(lib.linalg.qr(x))),
    "svd": ((4, 3), lambda lib, x: absolutes(lib.linalg.svd(x, full_matrices=False))),
    "svd_wide": ((3, 4), lambda lib, x: absolutes(lib.linalg.svd(x, full_matrices=False))),
    "svdvals": ((4, 3), lambda lib, x: [lib.linalg.svdvals(x)]),
    "eigh": ((3, 3), lambda lib, x: absolutes(lib.linalg.eigh(spd(x)))),
    "eigvalsh": ((3, 3), lambda lib, x: [lib.linalg.eigvalsh(spd(x))]),
    "eig": ((3, 3), lambda lib, x: absolutes(lib.linalg.eig(x))[1:]),
    "pinv": ((4, 3), lambda lib, x: [lib.linalg.pinv(x)]),
    "lu": ((3, 3), lambda lib, x: list(lib.linalg.lu(x))[1:]),
    "lu_wide": ((3, 5), lambda lib, x: list(lib.linalg.lu(x))[1:]),
    "lu_tall": ((5, 3), lambda lib, x: list(lib.linalg.lu(x))[1:]),
    "lu_solve": ((3, 3), lambda lib, x: [lib.linalg.lu_solve(*lib.linalg.lu_factor(x), x.mT)]),
    "matrix_exp": ((3, 3), lambda lib, x: [lib.linalg.matrix_exp(x)]),
    "matrix_power": ((3, 3), lambda lib, x: [lib.linalg.matrix_power(x, -3)]),
    "householder": ((4, 3), lambda lib, x: [lib.linalg.householder_product(x, x[..., 0, :])]),
    "nuclear": ((4, 3), lambda lib, x: [lib.linalg.matrix_norm(x, "nuc")]),
    "spectral": ((4, 3), lambda lib, x: [lib.linalg.matrix_norm(x, 2)]),
    "cond": ((3, 3), lambda lib, x: [lib.linalg.cond(x)]),
    "cross": ((4, 3), lambda lib, x: [lib.linalg.cross(x, x.flip(0))]),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_to_second_order(name: str, dtype: str) -> None:
    shape, function = CASES[name]
    rng = np.random.default_rng(3)
    a = rng.standard_normal((2, *shape))
    if dtype == "complex128":
        a = a + 1j * rng.standard_normal(a.shape)
    results = []
    for library in (tenfold, torch):
        x = library.from_numpy(a.copy()).requires_grad_()
        parts = function(library, x)
        total = sum((p * p.conj()).real.sum() if p.is_complex() else (p * p * 0.5).sum() for p in parts)
        (g,) = library.autograd.grad(total, x, create_graph=True)
        (h,) = library.autograd.grad((g * g.conj()).real.sum() if g.is_complex() else (g * g).sum(), x)
        results.append([*parts, g, h])
    for ours, theirs in zip(*results, strict=True):
        expected = theirs.detach().resolve_conj().numpy()
        scale = max(np.abs(expected).max(), 1.0)
        np.testing.assert_allclose(ours.detach().numpy() / scale, expected / scale, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_determinant_of_singular_matrices(rank: int) -> None:
    rng = np.random.default_rng(1)
    a = np.zeros((3, 3)) if rank == 0 else rng.integers(-3, 4, (3, rank)) @ rng.integers(-3, 4, (rank, 3)) * 1.0
    a[2] = a[1]
    results = []
    for library in (tenfold, torch):
        x = library.from_numpy(a.copy()).requires_grad_()
        library.linalg.det(x).backward()
        results.append(x.grad.numpy())
    np.testing.assert_allclose(*results, atol=1e-9)


@pytest.mark.parametrize("name", ["svdvals", "eigvalsh", "eigvals"])
def test_equal_values_have_a_gradient(name: str) -> None:
    x = tenfold.eye(3, dtype=tenfold.float64).requires_grad_()
    getattr(tenfold.linalg, name)(x).sum().real.backward()
    assert x.grad.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("name", ["inv", "det", "svdvals", "matrix_exp", "cholesky"])
def test_vmap(name: str) -> None:
    x = tenfold.from_numpy(np.random.default_rng(0).standard_normal((4, 3, 3)))
    x = x @ x.mT
    function = getattr(tenfold.linalg, name)
    np.testing.assert_allclose(tenfold.vmap(function)(x).numpy(), function(x).numpy())


@pytest.mark.parametrize("p", [1, -1, math.inf, "fro"])
def test_condition_of_singular_matrices_is_infinite(p):
    for values in ([[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]):
        assert (
            tenfold.linalg.cond(tenfold.tensor(values), p).item() == torch.linalg.cond(torch.tensor(values), p).item() == math.inf
        )


def test_nuclear_condition():
    values = [[2.0, 1.0], [0.5, 3.0]]
    expected = torch.linalg.cond(torch.tensor(values), "nuc").item()
    assert tenfold.linalg.cond(tenfold.tensor(values), "nuc").item() == pytest.approx(expected)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares_tolerance(driver):
    # PyTorch's gelsy reads pivots that nobody has filled, and now and then leaves the wrong column out.
    drivers = {tenfold: driver, torch: "gelsd" if driver == "gelsy" else driver}
    found, expected = (
        lib.linalg.lstsq(
            lib.tensor([[1.0, 0], [0, 0.1], [0, 0]]), lib.tensor([[1.0], [2], [3]]), rcond=0.5, driver=drivers[lib]
        ).solution
        for lib in (tenfold, torch)
    )
    assert found.tolist() == [pytest.approx(row) for row in expected.tolist()]


VECTORS: dict[str, Any] = {
    "eig": lambda lib, x: lib.linalg.eig(x)[1].sum().abs(),
    "eig, invariant": lambda lib, x: lib.linalg.eig(x)[1].abs().sum(),
    "eig, values": lambda lib, x: lib.linalg.eig(x)[0].abs().sum(),
    "eigh": lambda lib, x: lib.linalg.eigh(x)[1].sum().abs(),
    "eigh, invariant": lambda lib, x: lib.linalg.eigh(x)[1].abs().sum(),
    "svd": lambda lib, x: sum(m.sum() for m in lib.linalg.svd(x)[::2]).abs(),
    "svd, invariant": lambda lib, x: (lib.linalg.svd(x)[0] @ lib.linalg.svd(x)[2]).sum().abs(),
    "svd, values": lambda lib, x: lib.linalg.svd(x)[1].sum(),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", VECTORS)
def test_losses_that_depend_on_the_phase_of_vectors(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    given = rng.standard_normal((3, 3)) + (1j * rng.standard_normal((3, 3)) if dtype == "complex128" else 0)

    def refused(lib: Any) -> bool:
        x = lib.from_numpy(given.copy()).requires_grad_()
        try:
            VECTORS[name](lib, x).backward()
        except RuntimeError as error:
            assert "ill-defined" in str(error)  # noqa: PT017 - either outcome is compared
            return True
        return False

    assert refused(tenfold) == refused(torch)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_multi_dot_writes_its_own_dtype_only(dtype: str) -> None:
    for lib in (tenfold, torch):
        with pytest.raises(RuntimeError, match="dtype"):
            lib.linalg.multi_dot([lib.ones(2, 2), lib.ones(2, 2)], out=lib.ones(2, 2, dtype=getattr(lib, dtype)))


@pytest.mark.parametrize("written", ["first", "second"])
@pytest.mark.parametrize("shape", [(1,), (3, 1), (2, 3, 1), (3, 3)])
@pytest.mark.parametrize("name", ["inner", "tensordot"])
def test_what_a_product_keeps_of_an_argument_that_is_written_later(name: str, shape: Any, written: str) -> None:
    """Along a dimension of size 1 a product keeps a copy of its first argument, so that a backward pass goes on."""
    found: list[Any] = []
    for lib in (torch, tenfold):
        first = lib.ones(*shape, requires_grad=True)
        second = lib.ones(*(reversed(shape) if name == "tensordot" else shape), requires_grad=True)
        x, y = first * 2, second * 3
        product = lib.inner(x, y) if name == "inner" else lib.tensordot(x, y, 1)
        with lib.no_grad():
            (x if written == "first" else y).mul_(5)
        try:
            product.sum().backward()
            found.append((first.grad.tolist(), second.grad.tolist()))
        except RuntimeError as error:
            found.append("modified by an inplace operation" in str(error))
    assert found[1] == found[0]


SOLUTIONS: dict[str, Any] = {
    "solve": lambda lib, a, b: lib.linalg.solve(a, b),
    "solve_ex": lambda lib, a, b: lib.linalg.solve_ex(a, b)[0],
    "solve_right": lambda lib, a, b: lib.linalg.solve(a, b.mT.contiguous(), left=False),
    "solve_triangular": lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True),
    "solve_triangular_lower": lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=False),
    "cholesky_solve": lambda lib, a, b: lib.cholesky_solve(b, a),
    "lstsq": lambda lib, a, b: lib.linalg.lstsq(a, b).solution,
    "svd": lambda lib, a, b: lib.svd(a)[2],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("name", SOLUTIONS)
def test_solutions_lie_in_memory_as_lapack_leaves_them(name: str, batch: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((*batch, 4, 4)) + 4 * np.eye(4), rng.standard_normal((*batch, 4, 3))
    ours, theirs = (SOLUTIONS[name](lib, lib.from_numpy(a), lib.from_numpy(b)) for lib in (tenfold, torch))
    assert ours.stride() == theirs.stride()
    np.testing.assert_allclose(abs(ours.numpy()), abs(theirs.numpy()), rtol=1e-10)
