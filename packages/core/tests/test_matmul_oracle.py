"""Matrix products against PyTorch: every form, dtypes, gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

SHAPES = [
    ("matmul", [(3,), (3,)]), ("matmul", [(2, 3), (3,)]), ("matmul", [(3,), (3, 2)]), ("matmul", [(2, 3), (3, 4)]),
    ("matmul", [(5, 2, 3), (3, 4)]), ("matmul", [(5, 2, 3), (3,)]), ("matmul", [(3,), (5, 3, 2)]),
    ("matmul", [(2, 1, 2, 3), (5, 3, 4)]), ("matmul", [(2, 3), (5, 3, 4)]), ("matmul", [(0, 3), (3, 4)]),
    ("mm", [(2, 3), (3, 4)]), ("bmm", [(5, 2, 3), (5, 3, 4)]), ("mv", [(2, 3), (3,)]), ("dot", [(3,), (3,)]),
    ("vdot", [(3,), (3,)]), ("inner", [(2, 3), (4, 3)]), ("outer", [(2,), (3,)]), ("kron", [(2, 3), (3, 1)]),
    ("addmm", [(2, 4), (2, 3), (3, 4)]), ("addmm", [(4,), (2, 3), (3, 4)]), ("addmv", [(2,), (2, 3), (3,)]),
    ("addr", [(2, 3), (2,), (3,)]), ("baddbmm", [(5, 2, 4), (5, 2, 3), (5, 3, 4)]), ("addbmm", [(2, 4), (5, 2, 3), (5, 3, 4)]),
]  # fmt: skip


def arrays(shapes: Any, dtype: str) -> list[Any]:
    rng = np.random.default_rng(0)
    made = [rng.integers(-3, 4, s).astype("float64") for s in shapes]
    if dtype.startswith("complex"):
        made = [m + 1j * rng.integers(-3, 4, m.shape) for m in made]
    return [m.astype("float32" if dtype == "bfloat16" else dtype) for m in made]


def converted(library: Any, given: list[Any], dtype: str) -> list[Any]:
    return [library.from_numpy(a).to(getattr(library, dtype)) for a in given]


@pytest.mark.parametrize(("name", "shapes"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "bfloat16"])
def test_value(name: str, shapes: Any, dtype: str) -> None:
    given = arrays(shapes, dtype)
    ours = getattr(tenfold, name)(*converted(tenfold, given, dtype))
    theirs = getattr(torch, name)(*converted(torch, given, dtype))
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(np.array(ours.tolist()), np.array(theirs.tolist()), rtol=1e-6)


@pytest.mark.parametrize(("name", "shapes"), SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_to_second_order(name: str, shapes: Any, dtype: str) -> None:
    pytest.importorskip("tenfold.autograd")
    results = []
    for library in (tenfold, torch):
        xs = [x.requires_grad_() for x in converted(library, arrays(shapes, dtype), dtype)]
        y = getattr(library, name)(*xs)
        gs = library.autograd.grad((y * y.conj()).abs().sum(), xs, create_graph=True)
        hs = library.autograd.grad(sum((g * g.conj()).abs().sum() for g in gs), xs)
        results.append([*gs, *hs])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(np.array(ours.tolist()), np.array(theirs.tolist()), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["addmm", "baddbmm", "addbmm"])
def test_scaled_sums(name: str) -> None:
    shapes = dict(SHAPES)[name]
    shapes = [(2, 4), *shapes[1:]]
    results = []
    for library in (tenfold, torch):
        x, a, b = converted(library, arrays(shapes, "float64"), "float64")
        results.append(getattr(library, name)(x, a, b, beta=0.5, alpha=2).tolist())
        x.fill_(float("nan"))
        results.append(getattr(library, name)(x, a, b, beta=0).tolist())
    np.testing.assert_allclose(results[0], results[2])
    np.testing.assert_allclose(results[1], results[3])


EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ij->ji", [(2, 3)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]), ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]), ("i,j->ij", [(2,), (3,)]),
    ("ij,ij->", [(2, 3), (2, 3)]), ("ijk->k", [(2, 3, 4)]), ("bn,anm,bm->ba", [(2, 3), (5, 3, 4), (2, 4)]),
    ("...a,...a->...", [(2, 1, 3), (4, 3)]), ("ijii->j", [(3, 2, 3, 3)]), (" i j , j ", [(2, 3), (3,)]),
    ("Aa,aB->BA", [(2, 3), (3, 4)]),
    ("ij,k->i", [(2, 3), (4,)]),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum(equation: str, shapes: Any) -> None:
    given = arrays(shapes, "float64")
    ours = tenfold.einsum(equation, *converted(tenfold, given, "float64"))
    theirs = torch.einsum(equation, *converted(torch, given, "float64"))
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.tolist(), theirs.tolist())


def test_einsum_sublists() -> None:
    a, b = arrays([(2, 3), (3, 4)], "float64")
    ours = tenfold.einsum(tenfold.from_numpy(a), [0, 1], tenfold.from_numpy(b), [1, 2], [2, 0])
    np.testing.assert_allclose(ours.numpy(), (a @ b).T)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.mm(lib.ones(2, 3), lib.ones(2, 3)),
        lambda lib: lib.mm(lib.ones(2), lib.ones(2, 3)),
        lambda lib: lib.bmm(lib.ones(2, 2, 3), lib.ones(1, 3, 2)),
        lambda lib: lib.matmul(lib.ones(2, 3), lib.ones(2, 3)),
        lambda lib: lib.matmul(lib.tensor(1.0), lib.ones(2)),
        lambda lib: lib.mm(lib.ones(2, 2), lib.ones(2, 2, dtype=lib.float64)),
        lambda lib: lib.mm(lib.ones(2, 2, dtype=lib.bool), lib.ones(2, 2, dtype=lib.bool)),
        lambda lib: lib.dot(lib.ones(2), lib.ones(3)),
        lambda lib: lib.mv(lib.ones(2, 3), lib.ones(2)),
        lambda lib: lib.outer(lib.ones(2, 2), lib.ones(2)),
        lambda lib: lib.einsum("ij,jk->il", lib.ones(2, 2), lib.ones(2, 2)),
        lambda lib: lib.einsum("ij", lib.ones(2)),
        lambda lib: lib.tensordot(lib.ones(2, 3), lib.ones(2, 3), 1),
    ],
)
def test_errors(call: Any) -> None:
    with pytest.raises(RuntimeError):
        call(torch)
    with pytest.raises(RuntimeError):
        call(tenfold)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_addmm_of_half_precision_rounds_once(dtype: str) -> None:
    rng = np.random.default_rng(0)
    given = [[lib.tensor(a).to(getattr(lib, dtype)) for lib in (tenfold, torch)] for a in rng.normal(size=(3, 6, 6))]
    ours, theirs = (lib.addmm(*(pair[i] for pair in given), beta=-4.775, alpha=2.0315) for i, lib in enumerate((tenfold, torch)))
    assert str(ours.dtype).endswith(dtype)
    np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "shapes", [((5, 1), (1, 1)), ((1, 1), (1, 5)), ((1, 1), (1, 1)), ((5, 1), (1,)), ((1,), (1, 5)), ((2, 5, 1), (1, 1))]
)
def test_infinity_times_zero_is_nan_in_matrices_of_one_element(shapes: Any, dtype: str) -> None:
    for left, right in ((np.inf, 0.0), (0.0, np.nan)):
        for lib in (torch, tenfold):
            a, b = (lib.full(shape, x, dtype=getattr(lib, dtype)) for shape, x in zip(shapes, (left, right)))
            assert a.matmul(b).isnan().all()
            assert lib.nn.functional.linear(a, b.mT if b.dim() > 1 else b).isnan().all()


@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (2, 3, 1, 5), (2, 3, 4, 1), (2, 3, 1, 1)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (0, 2, 1, 3), (2, 0, 1, 3), (3, 1, 0, 2)])
def test_products_of_batches_in_any_order_lie_in_memory_as_pytorchs(sizes: Any, order: Any) -> None:
    found = []
    for lib in (tenfold, torch):
        x = lib.ones(*(sizes[i] for i in order)).permute([order.index(i) for i in range(4)])
        y, z = x[0], lib.ones(3, 2, sizes[3], 2).transpose(0, 1)
        results = [x @ x.mT, x @ z, x @ z[0, 0, :, 0], x @ z[0, 0], z.mT @ x.mT, lib.bmm(y, y.mT), lib.baddbmm(y @ y.mT, y, y.mT)]
        found.append([(r.stride(), r.is_contiguous()) for r in [*results, lib.ones(6, sizes[2]) @ x, lib.matmul(y, y.mT)]])
    assert found[0] == found[1]
