"""Writes into sparse matrices whose values others share, adjoints, and dimensions of size 1 by an index, as in PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

DENSE = [[0.0, 1.0, 2.0, 0.0], [3.0, 0.0, 0.0, 4.0]]
LAYOUTS: dict[str, Any] = {
    "csr": lambda x: x.to_sparse_csr(), "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((1, 2)), "bsc": lambda x: x.to_sparse_bsc((1, 2)), "coo": lambda x: x.to_sparse(),
}  # fmt: skip
VIEWS: dict[str, Any] = {
    "t": lambda x: x.t(), "transpose": lambda x: x.transpose(0, 1), "mT": lambda x: x.mT, "detach": lambda x: x.detach(),
    "twice": lambda x: x.t().t(),
}  # fmt: skip
WRITES: dict[str, Any] = {
    "mul_": lambda x: x.mul_(2), "neg_": lambda x: x.neg_(), "sin_": lambda x: x.sin_(), "relu_": lambda x: x.neg_().relu_(),
}  # fmt: skip


def made(lib: Any, layout: str, factor: Any = 1) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LAYOUTS[layout](lib.tensor(DENSE) * factor)


@pytest.mark.parametrize("written", ["view", "base"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
def test_a_write_reaches_what_shares_the_values(layout: str, view: str, write: str, written: str) -> None:
    found = []
    for lib in (tenfold, torch):
        base = made(lib, layout)
        other = VIEWS[view](base)
        WRITES[write](other if written == "view" else base)
        found.append((base.to_dense().tolist(), other.to_dense().tolist()))
    for ours, theirs in zip(found[0], found[1], strict=True):
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs))


@pytest.mark.parametrize("factor", [1, 1 + 2j])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_adjoints(layout: str, factor: Any) -> None:
    for form in (lambda x: x.mH, lambda x: x.H, lambda x: x.adjoint()):
        ours, theirs = (form(made(lib, layout, factor)) for lib in (tenfold, torch))
        assert str(ours.layout).split(".")[-1] == str(theirs.layout).split(".")[-1]
        assert ours.to_dense().tolist() == theirs.to_dense().tolist()


ALL = slice(None)


@pytest.mark.parametrize(
    "index", [None, (ALL, None), (0, None), (..., None), (None, 0), (ALL, None, 0), (None, ...), (None, None)]
)
@pytest.mark.parametrize("dense", [0, 1])
def test_dimensions_of_size_1_by_an_index(index: Any, dense: int) -> None:
    found = []
    for lib in (tenfold, torch):
        x = lib.tensor(DENSE).to_sparse(2 - dense)[index]
        found.append((x.is_sparse, tuple(x.shape), x.to_dense().tolist() if x.is_sparse else x.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_data_is_outside_the_graph(layout):
    for m in (torch, tenfold):
        x = getattr(m.eye(3), layout)().requires_grad_()
        data = x.data
        assert (data.layout, data.requires_grad) == (x.layout, False)
        data.mul_(2)
        assert x.detach().to_dense().diagonal().tolist() == [1 if layout == "to_sparse" else 2] * 3  # a COO tensor takes others
