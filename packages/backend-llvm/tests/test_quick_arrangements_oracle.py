"""The short ways before arrangements, parts replaced, diagonals, values at places and conversions, against PyTorch and the
ordinary way."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import results, same_from_every_source, seen, seen_by_classes_and_modes

import tenfold
from tenfold import func

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)


def _places(lib, *values):
    return lib.tensor(values, dtype=lib.int64)


CASES = {
    "hstack": lambda lib, x: lib.hstack([x, x]),
    "hstack of vectors": lambda lib, x: lib.hstack((x[0], x[1])),
    "hstack of numbers": lambda lib, x: lib.hstack([x[0, 0], x[0]]),
    "hstack of none": lambda lib, x: lib.hstack([]),
    "hstack of two kinds": lambda lib, x: lib.hstack([x, x.double() if x.dtype != lib.complex64 else x]),
    "vstack": lambda lib, x: lib.vstack([x, x[0], x]),
    "vstack that differ": lambda lib, x: lib.vstack([x, x[:, :2]]),
    "dstack": lambda lib, x: lib.dstack([x[None], x[None]]),
    "dstack of matrices": lambda lib, x: lib.dstack([x, x]),
    "column_stack": lambda lib, x: lib.column_stack([x[:, 0], x, x[:, 1]]),
    "column_stack of numbers": lambda lib, x: lib.column_stack([x[0, 0], x[1, 1]]),
    "fliplr": lambda lib, x: x.fliplr(),
    "fliplr of a vector": lambda lib, x: x[0].fliplr(),
    "flipud": lambda lib, x: lib.flipud(x),
    "flipud of a number": lambda lib, x: x[0, 0].flipud(),
    "tensor_split": lambda lib, x: x.tensor_split(2),
    "tensor_split of columns": lambda lib, x: lib.tensor_split(x, 3, -1),
    "tensor_split at places": lambda lib, x: x.tensor_split((1, 7, -1), 1),
    "tensor_split by a tensor": lambda lib, x: lib.tensor_split(x, lib.tensor(2)),
    "tensor_split at a tensor": lambda lib, x: lib.tensor_split(x, lib.tensor([1, 2])),
    "tensor_split by 0": lambda lib, x: x.tensor_split(0),
    "tensor_split nowhere": lambda lib, x: x.tensor_split(1, 2),
    "hsplit": lambda lib, x: x.hsplit(2),
    "hsplit unevenly": lambda lib, x: x.hsplit(3),
    "hsplit of a vector": lambda lib, x: x[0].hsplit([1]),
    "vsplit": lambda lib, x: lib.vsplit(x, [1]),
    "vsplit of a vector": lambda lib, x: x[0].vsplit(2),
    "dsplit": lambda lib, x: x[None].dsplit(2),
    "unsafe_split": lambda lib, x: x.unsafe_split(2),
    "unsafe_chunk": lambda lib, x: lib.unsafe_chunk(x, 3, -1),
    "unsafe_chunk by 0": lambda lib, x: x.unsafe_chunk(0),
    "select_scatter": lambda lib, x: x.select_scatter(x[0], 0, -1),
    "select_scatter of columns": lambda lib, x: x.select_scatter(x[:, 0], -1, 2),
    "select_scatter of others": lambda lib, x: x.select_scatter(x[0, :2], 0, 1),
    "select_scatter beyond": lambda lib, x: x.select_scatter(x[0], 0, 3),
    "slice_scatter": lambda lib, x: x.slice_scatter(x[:2], 0, 1),
    "slice_scatter by steps": lambda lib, x: x.slice_scatter(x[:, :2], 1, 0, 4, 2),
    "slice_scatter backwards": lambda lib, x: x.slice_scatter(x[:, :2], 1, 0, 4, -2),
    "slice_scatter of none": lambda lib, x: x.slice_scatter(x[:0], 0, 2, 1),
    "diagonal_scatter": lambda lib, x: x.diagonal_scatter(x[0, :3]),
    "diagonal_scatter below": lambda lib, x: x.diagonal_scatter(x[0, :2], -1),
    "diagonal_scatter turned": lambda lib, x: x.diagonal_scatter(x[0, :3], 0, 1, 0),
    "diagonal_scatter twice": lambda lib, x: x.diagonal_scatter(x[0, :3], 0, 1, 1),
    "diag": lambda lib, x: x.diag(),
    "diag above": lambda lib, x: x.diag(2),
    "diag beyond": lambda lib, x: x.diag(9),
    "diag of a vector": lambda lib, x: lib.diag(x[0], -1),
    "diag of a number": lambda lib, x: x[0, 0].diag(),
    "diag of none": lambda lib, x: lib.diag(x[0, :0], 1),
    "diag_embed": lambda lib, x: lib.diag_embed(x),
    "diag_embed above": lambda lib, x: x.diag_embed(1),
    "diag_embed below": lambda lib, x: x.diag_embed(-2),
    "diag_embed in front": lambda lib, x: x.diag_embed(0, 0, 2),
    "diag_embed twice": lambda lib, x: x.diag_embed(0, 1, 1),
    "diagflat": lambda lib, x: lib.diagflat(x, 1),
    "roll": lambda lib, x: x.roll(1, 0),
    "roll of columns": lambda lib, x: x.roll(-10001, -1),
    "roll flat": lambda lib, x: x.roll(2),
    "roll by lists": lambda lib, x: x.roll((1,), (1,)),
    "roll both": lambda lib, x: x.roll((1, 2), (0, 1)),
    "roll nowhere": lambda lib, x: x.roll(1, 2),
    "roll unevenly": lambda lib, x: x.roll((1, 2), 0),
    "nonzero": lambda lib, x: x.nonzero(),
    "nonzero of a vector": lambda lib, x: lib.nonzero(x[1]),
    "nonzero of a number": lambda lib, x: x[1, 1].nonzero(),
    "nonzero of none": lambda lib, x: x[:0].nonzero(),
    "gather": lambda lib, x: x.gather(1, lib.zeros(2, 3, dtype=lib.int64)),
    "gather of less": lambda lib, x: x.gather(0, lib.ones(5, 2, dtype=lib.int64)),
    "gather of more": lambda lib, x: x.gather(0, lib.ones(2, 5, dtype=lib.int64)),
    "gather beyond": lambda lib, x: x.gather(0, 3 * lib.ones(2, 2, dtype=lib.int64)),
    "index_fill": lambda lib, x: x.index_fill(0, _places(lib, 2, 0), 2),
    "index_fill of columns": lambda lib, x: x.index_fill(-1, _places(lib, 3), x[1, 1]),
    "index_fill of infinity": lambda lib, x: x.index_fill(0, _places(lib, 1), float("inf")),
    "index_fill beyond": lambda lib, x: x.index_fill(0, _places(lib, 3), 1),
    "index_fill of a vector": lambda lib, x: x.index_fill(0, _places(lib, 1), x[0]),
    "take_along_dim": lambda lib, x: lib.take_along_dim(x, lib.zeros(1, 4, dtype=lib.int64), 0),
    "take_along_dim of one": lambda lib, x: lib.take_along_dim(x, lib.zeros(1, 1, dtype=lib.int64), 0),
    "take_along_dim from the end": lambda lib, x: lib.take_along_dim(x, -lib.ones(3, 1, dtype=lib.int64), 1),
    "take_along_dim flat": lambda lib, x: lib.take_along_dim(x.contiguous(), _places(lib, 5)),
    "take_along_dim beyond": lambda lib, x: lib.take_along_dim(x, 9 * lib.ones(3, 1, dtype=lib.int64), 1),
    "put": lambda lib, x: x.put(_places(lib, 5, -1), x[1, :2]),
    "put and add": lambda lib, x: x.put(_places(lib, 5, 5), x[1, :2], accumulate=True),
    "put beyond": lambda lib, x: x.put(_places(lib, 12), x[1, :1]),
    "put unevenly": lambda lib, x: x.put(_places(lib, 1), x[1, :2]),
    "masked_scatter": lambda lib, x: x.masked_scatter(x.abs() > 5, x[1:].clone()),
    "masked_scatter of rows": lambda lib, x: x.masked_scatter(x[0].abs() > 1, x),
    "masked_scatter of few": lambda lib, x: x.masked_scatter(x.abs() > 5, x[0, :1]),
    "char": lambda lib, x: x.char(),
    "byte": lambda lib, x: x.byte(),
    "short": lambda lib, x: x.short(),
    "cfloat": lambda lib, x: x.cfloat(),
    "cdouble": lambda lib, x: x.t().cdouble(),
    "to": lambda lib, x: x.to(lib.int16),
    "to a device and dtype": lambda lib, x: x.to("cpu", lib.float64),
    "to by names": lambda lib, x: x.to(dtype=lib.float64, device="cpu"),
    "to another": lambda lib, x: x.to(lib.ones(1, dtype=lib.float64)),
    "to nothing": lambda lib, x: x.to(lib.float64, lib.float32),
    "to itself": lambda lib, x: x.to("cpu"),
    "to another copied": lambda lib, x: x.to(x, copy=True),
    "linspace": lambda lib, x: lib.linspace(0, 1, 5, dtype=lib.float32, device="cpu"),
}
SOURCES = {
    "float32": lambda lib, a: lib.from_numpy(a.copy()),
    "int64": lambda lib, a: lib.from_numpy(a.astype(np.int64)),
    "float16": lambda lib, a: lib.from_numpy(a.astype(np.float16)),
    "columns": lambda lib, a: lib.from_numpy(np.ascontiguousarray(a.T)).t(),
    "a part": lambda lib, a: lib.from_numpy(np.pad(a, 1))[1:-1, 1:-1],
    "a leaf": lambda lib, a: lib.from_numpy(a.copy()).requires_grad_(),
}
ARRAY = np.arange(-3, 9, dtype=np.float32).reshape(3, 4)


# Where the ordinary way differs from PyTorch in layout or in words: steps that are wrong, places beyond.
APART = {"slice_scatter backwards", "take_along_dim beyond", "to nothing"}


@pytest.mark.parametrize("name", [n for n in CASES if n not in APART])
@pytest.mark.parametrize("source", SOURCES)
def test_results_are_pytorchs(source, name):
    ours, theirs = (results(lambda lib=lib: CASES[name](lib, SOURCES[source](lib, ARRAY)), seen) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_ordinary_way(name):
    same_from_every_source(CASES[name], SOURCES, ARRAY)


CALLS = {
    "hstack": lambda x: tenfold.hstack([x, x]),
    "diag": lambda x: x.diag(),
    "index_select": lambda x: x.index_select(0, PLACE),
    "index_fill": lambda x: x.index_fill(0, PLACE, 2.0),
    "put": lambda x: x.put(PLACE, x[0, :1]),
    "to": lambda x: x.to(tenfold.int16),
    "repeat": lambda x: x.repeat(2, 1),
    "narrow": lambda x: x.narrow(0, 0, 1),
    "split": lambda x: tenfold.split(x, 1),
    "as_strided": lambda x: x.as_strided((2,), (1,)),
    "zeros_like": lambda x: tenfold.zeros_like(x, dtype=tenfold.float64),
    "select_scatter": lambda x: x.select_scatter(x[0], 0, 1),
    "movedim": lambda x: x.movedim(0, 1),
}
PLACE = tenfold.tensor([1])


@pytest.mark.parametrize("name", CALLS)
def test_classes_and_modes_see_the_call(name):
    x = tenfold.ones(3, 4)
    seen_by_classes_and_modes(CALLS[name], x, name)


@pytest.mark.parametrize("name", CALLS)
def test_each_example_of_a_batch_is_one_call(name):
    x = tenfold.arange(24.0).reshape(2, 3, 4)
    made, each = func.vmap(CALLS[name])(x), [CALLS[name](row) for row in x]
    if not isinstance(made, tuple):
        made, each = (made,), [(y,) for y in each]
    for k, y in enumerate(made):
        assert y.tolist() == tenfold.stack([parts[k] for parts in each]).tolist()


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("to", "zeros_like")])
def test_gradients_are_those_of_a_recorded_call(name):
    x = tenfold.arange(12.0, dtype=tenfold.float64).reshape(3, 4).requires_grad_()
    assert tenfold.autograd.gradcheck(CALLS[name], [x])


def test_kernels_that_somebody_attaches_go_first():
    from tenfold.dispatch.kernels import KERNELS, kernel
    from tenfold.dispatch.operators import op

    x = tenfold.ones(2, 2)
    assert x.tile(2).shape == (2, 4)
    kept = list(KERNELS.get(("tile", "cpu"), []))
    kernel(op.tile, device="cpu")(lambda input, dims: input)
    try:
        assert x.tile(2).shape == (2, 2)
    finally:
        KERNELS["tile", "cpu"] = kept
        op.tile.calls.kernels.clear()
        x._key.kernels.__dict__.pop("tile", None)
    assert x.tile(2).shape == (2, 4)


GRADIENTS = {
    "diag_embed": lambda lib, x: x.diag_embed(1),
    "diag_embed below": lambda lib, x: x[0].diag_embed(-2),
    "diagonal": lambda lib, x: x.diagonal(-1),
    "unfold": lambda lib, x: x.unfold(1, 3, 1),
    "unfold apart": lambda lib, x: x.unfold(0, 1, 2),
    "index_select": lambda lib, x: x.index_select(0, lib.tensor([1, 1, 0])),
    "take": lambda lib, x: x.take(lib.tensor([0, 0, 5])),
    "rows": lambda lib, x: x[lib.tensor([2, 2])],
    "expand": lambda lib, x: x[:, None, :1].expand(3, 2, 4),
    "expand in front": lambda lib, x: x.expand(2, 3, 4),
    "reshape": lambda lib, x: x.reshape(2, -1),
    "reshape of columns": lambda lib, x: x.t().reshape(12),
    "swapaxes": lambda lib, x: x.swapaxes(0, -1),
    "double": lambda lib, x: x.double(),
    "as_strided": lambda lib, x: x.as_strided((2, 3), (1, 1)),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_gradients_are_pytorchs(name, dtype):
    found = []
    for lib in LIBRARIES:
        x = lib.from_numpy(np.arange(12.0).reshape(3, 4).astype(dtype)).requires_grad_()
        for _ in range(2):  # the second finds the geometry of the first
            y = GRADIENTS[name](lib, x)
            (first,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        first.sum().backward()
        found.append((first.tolist(), x.grad.tolist(), y.tolist()))
    assert found[0] == found[1]
