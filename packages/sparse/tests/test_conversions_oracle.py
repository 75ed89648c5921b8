"""Which sparse layouts convert into which, and with which arguments: PyTorch's table, its refusals included."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

SOURCES = ["strided", "coo", "hybrid coo", "3-d coo", "csr", "csc", "bsr", "bsc", "batched csr", "batched bsr", "hybrid csr"]
LAYOUTS = ["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
OPTIONS: list[dict[str, Any]] = [{}, {"blocksize": (2, 2)}, {"blocksize": (1, 4)}, {"dense_dim": 0}, {"dense_dim": 1}]
METHODS: list[tuple[str, tuple[Any, ...]]] = [
    ("to_sparse", ()), ("to_sparse", (2,)), ("to_sparse_coo", ()), ("to_dense", ()),
    *((f"to_sparse_cs{c}", args) for c in "rc" for args in ((), (0,), (1,))),
    *((f"to_sparse_bs{c}", args) for c in "rc" for args in (((2, 2),), (2,), (1,), ((1, 1),), ((4, 2),), ((3, 2),), ((2, 2), 0))),
    ("t", ()), ("transpose", (0, 1)), ("transpose", (-1, -2)), ("transpose", (0, 2)),
]  # fmt: skip


def source(engine: Any, name: str) -> Any:
    x = engine.eye(4)
    x[0, 3] = 2
    kind = name.split()[-1]
    if name in ("3-d coo", "batched csr", "batched bsr"):
        x = engine.stack([x, x])
    if name == "hybrid csr":
        return engine.stack([x, x], -1).to_sparse_csr(dense_dim=1)
    if name == "hybrid coo":
        return x.to_sparse(1)
    if kind in ("strided", "coo"):
        return x if kind == "strided" else x.to_sparse()
    return getattr(x, f"to_sparse_{kind}")(*([(2, 2)] if kind.startswith("b") else []))


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    try:
        x = call(*args, **options)
    except (RuntimeError, IndexError) as error:
        return type(error)
    stored = x if str(x.layout).endswith("strided") else x.coalesce()._values() if x.is_sparse else x.values()
    return str(x.layout).rpartition(".")[2], tuple(x.shape), stored.tolist(), x.to_dense().tolist()


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("name", SOURCES)
def test_conversions(name: str) -> None:
    ours, theirs = source(tenfold, name), source(torch, name)
    for layout, options in itertools.product(LAYOUTS, OPTIONS):
        wanted = outcome(theirs.to_sparse, layout=getattr(torch, layout), **options)
        assert outcome(ours.to_sparse, layout=getattr(tenfold, layout), **options) == wanted, (layout, options)
    for method, args in METHODS:
        assert outcome(getattr(ours, method), *args) == outcome(getattr(theirs, method), *args), (method, args)


def test_matrices_of_a_batch_are_transposed() -> None:
    ours, theirs = source(tenfold, "batched csr"), source(torch, "batched csr")
    assert outcome(lambda: ours.mT) == outcome(lambda: theirs.mT)


def test_a_batch_of_blocks_keeps_its_zeros_by_coordinates() -> None:
    x = source(tenfold, "batched bsr").to_sparse()
    assert (x._nnz(), x.is_coalesced()) == (24, True)
    assert x._indices()[:, :3].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 2]]


def of_int32(t: Any) -> Any:
    starts, places = (t.tensor(a, dtype=t.int32) for a in ([0, 2, 3, 3, 4], [0, 2, 1, 3]))
    return t.sparse_csr_tensor(starts, places, t.tensor([1.0, 2.0, 3.0, 4.0]), (4, 4))


INDICES: dict[str, Any] = {
    "csc": lambda t: of_int32(t).to_sparse_csc().ccol_indices(),
    "back from csc": lambda t: of_int32(t).to_sparse_csc().to_sparse_csr().col_indices(),
    "bsr": lambda t: of_int32(t).to_sparse_bsr(2).col_indices(),
    "bsc": lambda t: of_int32(t).to_sparse_bsc((2, 2)).ccol_indices(),
    "blocks by column": lambda t: of_int32(t).to_sparse_bsr((2, 2)).to_sparse_bsc((2, 2)).row_indices(),
    "coordinates": lambda t: of_int32(t).to_sparse_coo().indices(),
    "sum": lambda t: (of_int32(t) + of_int32(t)).crow_indices(),
    "sum with int64": lambda t: (of_int32(t) + of_int32(t).to_sparse_coo().to_sparse_csr()).crow_indices(),
    "sum of rows": lambda t: of_int32(t).sum(1, keepdim=True).crow_indices(),
}


@pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished
@pytest.mark.parametrize("case", INDICES)
def test_places_keep_their_dtype(case: str) -> None:
    ours, theirs = (INDICES[case](t) for t in (tenfold, torch))
    assert (str(ours.dtype).split(".")[1], ours.tolist()) == (str(theirs.dtype).split(".")[1], theirs.tolist())
