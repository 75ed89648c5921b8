"""Tables with sparse gradients against PyTorch: the gradients, and training by SparseAdam and others that take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.sparse", reason="sparse layouts are a package of their own")
pytest.importorskip("tenfold.optim")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant checks")

LIBS = (tenfold, torch)
TABLE = np.random.default_rng(0).normal(size=(7, 3))
ROWS = [[1, 2], [2, 6], [0, 2]]


def embedding(lib: Any, kind: str = "Embedding", **options: Any) -> Any:
    weight = lib.from_numpy(TABLE.copy())
    return getattr(lib.nn, kind).from_pretrained(weight, freeze=False, sparse=True, **options)


def described(g: Any) -> Any:
    return g.is_sparse, tuple(g.shape), g._indices().tolist(), g._values().tolist()


@pytest.mark.parametrize("padding_idx", [None, 2, -1])
def test_gradient(padding_idx: int | None) -> None:
    found = []
    for lib in LIBS:
        table = embedding(lib, padding_idx=padding_idx)
        (table(lib.tensor(ROWS)) ** 2).sum().backward()
        found.append(described(table.weight.grad))
    assert found[0][:3] == found[1][:3]
    np.testing.assert_allclose(found[0][3], found[1][3])


def test_no_indices() -> None:
    table = embedding(tenfold)
    table(tenfold.zeros(0, dtype=tenfold.int64)).sum().backward()
    assert table.weight.grad.is_sparse
    assert table.weight.grad._nnz() == 0


def terms(lib: Any, table: Any, order: str) -> Any:
    for what in order:  # s: a sparse gradient, d: a dense one
        yield (table(lib.tensor(ROWS)) ** 2).sum() if what == "s" else (table.weight**3).sum()


@pytest.mark.parametrize("order", ["ss", "sd", "ds", "ssd", "sds"])
@pytest.mark.parametrize("together", [True, False], ids=["one pass", "passes"])
def test_sums(order: str, together: bool) -> None:
    found = []
    for lib in LIBS:
        table = embedding(lib)
        if together:
            sum(terms(lib, table, order)).backward()
        else:
            for term in terms(lib, table, order):
                term.backward()
        found.append(table.weight.grad)
    assert found[0].is_sparse == found[1].is_sparse
    np.testing.assert_allclose(found[0].to_dense().numpy(), found[1].to_dense().numpy())


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags(mode: str) -> None:
    found = []
    for lib in LIBS:
        table = embedding(lib, "EmbeddingBag", mode=mode)
        (table(lib.tensor(ROWS)) ** 2).sum().backward()
        found.append(described(table.weight.grad))
    assert found[0][:3] == found[1][:3]
    np.testing.assert_allclose(found[0][3], found[1][3])


@pytest.mark.parametrize("options", [{"sparse": True}, {"scale_grad_by_freq": True}], ids=str)
def test_maxima_refuse(options: dict[str, Any]) -> None:
    messages = []
    for lib in LIBS:
        with pytest.raises(ValueError, match="max mode") as caught:
            lib.nn.functional.embedding_bag(lib.tensor(ROWS), lib.ones(7, 3), mode="max", **options)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_frequencies_are_refused() -> None:
    for lib in LIBS:
        loss = embedding(lib, scale_grad_by_freq=True)(lib.tensor(ROWS)).sum()
        with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
            loss.backward()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SparseAdam", {}),
        ("SparseAdam", {"lr": 0.1, "betas": (0.5, 0.9), "maximize": True}),
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("Adagrad", {"lr": 0.1}),
    ],
    ids=str,
)
def test_training(name: str, options: dict[str, Any]) -> None:
    """A table and a bag, 20 steps with rows that come often, rarely and never, across a save and a load."""
    results = []
    for lib in LIBS:
        random = np.random.default_rng(1)
        table, bag = embedding(lib, padding_idx=0), embedding(lib, "EmbeddingBag", mode="sum")
        params = [table.weight, bag.weight]
        optimizer = getattr(lib.optim, name)(params, **options)
        losses = []
        for step in range(20):
            rows, bags = (lib.tensor(random.integers(0, 6, size=(4, 3)).tolist()) for _ in range(2))
            optimizer.zero_grad()
            loss = (table(rows).sum(1) * bag(bags)).sum() + (bag(bags) ** 2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step == 10:
                state = optimizer.state_dict()
                optimizer = getattr(lib.optim, name)(params, **options)
                optimizer.load_state_dict(state)
        results.append((losses, *(param.detach().numpy() for param in params)))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    assert (results[0][1][6] == TABLE[6]).all()  # the row that never came


def test_gradients_are_cleared_in_place() -> None:
    for lib in LIBS:
        table = embedding(lib)
        table(lib.tensor(ROWS)).sum().backward()
        g = table.weight.grad
        assert g.detach_() is g
        assert not g.requires_grad
        table.zero_grad(set_to_none=False)
        assert table.weight.grad.is_sparse
        assert not table.weight.grad.to_dense().any()


def test_the_gradients_of_two_sums_stand_side_by_side() -> None:
    found = []
    for lib in LIBS:
        table = embedding(lib)
        for _ in range(2):
            table(lib.tensor([5, 1])).sum().backward()
        found.append(table.weight.grad._indices().tolist())
    assert found[0] == found[1] == [[5, 1, 5, 1]]


def test_the_gradient_keeps_its_places_when_the_indices_are_written() -> None:
    found = []
    for lib in LIBS:
        table, at = embedding(lib), lib.tensor([5, 1])
        table(at).sum().backward()
        at[0] = 2
        table(at).sum().backward()
        found.append(table.weight.grad._indices().tolist())
    assert found[0] == found[1] == [[5, 1, 2, 1]]
