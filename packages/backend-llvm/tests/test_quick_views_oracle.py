"""The short ways before views, copies, factories and slices at places, against PyTorch: values, dtypes, steps, nodes, errors."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import results, same_both_ways, seen, seen_whole

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)

VIEWS = {
    "movedim": lambda lib, x: x.movedim(0, -1),
    "movedim of several": lambda lib, x: x.movedim((0, 1), (1, 0)),
    "moveaxis": lambda lib, x: lib.moveaxis(x, -1, 0),
    "movedim twice": lambda lib, x: x.movedim((0, 0), (0, 1)),
    "movedim beyond": lambda lib, x: x.movedim(0, 3),
    "movedim to True": lambda lib, x: x.movedim(True, 0),
    "swapaxes": lambda lib, x: x.swapaxes(0, -1),
    "swapdims": lambda lib, x: x.swapdims(0, 1),
    "unflatten": lambda lib, x: x.unflatten(-1, (2, -1)),
    "unflatten evenly": lambda lib, x: x.unflatten(0, (1, 3)),
    "unflatten unevenly": lambda lib, x: x.unflatten(0, (2, 3)),
    "unflatten to nothing": lambda lib, x: x.unflatten(0, ()),
    "unflatten twice open": lambda lib, x: x.unflatten(0, (-1, -1)),
    "narrow": lambda lib, x: x.narrow(0, 1, 2),
    "narrow from the end": lambda lib, x: x.narrow(-1, -2, 1),
    "narrow by a tensor": lambda lib, x: x.narrow(0, lib.tensor(1), 1),
    "narrow to nothing": lambda lib, x: x.narrow(0, 3, 0),
    "narrow too far": lambda lib, x: x.narrow(0, 2, 2),
    "narrow backwards": lambda lib, x: x.narrow(0, 0, -1),
    "narrow nowhere": lambda lib, x: x.narrow(2, 0, 1),
    "expand_as": lambda lib, x: x[:, :1].expand_as(x),
    "expand_as less": lambda lib, x: x.expand_as(x[0]),
    "broadcast_to": lambda lib, x: lib.broadcast_to(x, (2, 3, 4)),
    "broadcast_to less": lambda lib, x: x.broadcast_to((4,)),
    "broadcast_tensors": lambda lib, x: lib.broadcast_tensors(x, x[0], x[:, :1]),
    "broadcast_tensors of a list": lambda lib, x: lib.broadcast_tensors(*[x[:1], x[:, :1]]),
    "broadcast_tensors that differ": lambda lib, x: lib.broadcast_tensors(x, x.reshape(4, 3)),
    "split": lambda lib, x: x.split(2),
    "split of columns": lambda lib, x: lib.split(x, 3, -1),
    "split by sizes": lambda lib, x: x.split([1, 2]),
    "split by wrong sizes": lambda lib, x: x.split([1, 1]),
    "split by 0": lambda lib, x: x.split(0),
    "split backwards": lambda lib, x: x.split(-1),
    "split nowhere": lambda lib, x: x.split(1, 5),
    "split of none": lambda lib, x: x[:0].split(2),
    "chunk": lambda lib, x: x.chunk(2),
    "chunk of columns": lambda lib, x: lib.chunk(x, 3, 1),
    "chunk of many": lambda lib, x: x.chunk(9, -1),
    "chunk by 0": lambda lib, x: x.chunk(0),
    "chunk of none": lambda lib, x: x[:0].chunk(2),
    "unbind": lambda lib, x: x.unbind(),
    "unbind columns": lambda lib, x: x.unbind(-1),
    "unbind nowhere": lambda lib, x: x.unbind(2),
    "narrow from one in a vector": lambda lib, x: x.narrow(0, lib.tensor([1]), 1),
    "repeat of nothing": lambda lib, x: x.sum().repeat(),
    "tile of nothing": lambda lib, x: x.sum().tile(),
    "repeat": lambda lib, x: x.repeat(2, 1),
    "repeat in front": lambda lib, x: x.repeat((2, 1, 3)),
    "repeat never": lambda lib, x: x.repeat(0, 2),
    "repeat less": lambda lib, x: x.repeat(2),
    "repeat backwards": lambda lib, x: x.repeat(-1, 2),
    "tile": lambda lib, x: x.tile(2),
    "tile in front": lambda lib, x: lib.tile(x, (2, 1, 2)),
    "repeat_interleave": lambda lib, x: x.repeat_interleave(2),
    "repeat_interleave rows": lambda lib, x: x.repeat_interleave(3, 0),
    "repeat_interleave by a tensor": lambda lib, x: x.repeat_interleave(lib.tensor([1, 0, 2]), 0),
    "repeat_interleave wrongly": lambda lib, x: x.repeat_interleave(lib.tensor([1, 0]), 0),
    "repeat_interleave backwards": lambda lib, x: x.repeat_interleave(-1),
    "type_as": lambda lib, x: x.type_as(lib.ones(1, dtype=lib.complex128)),
    "type_as itself": lambda lib, x: x.type_as(x),
    "as_strided": lambda lib, x: x.as_strided((2, 2), (1, 2)),
    "as_strided at": lambda lib, x: x.as_strided((2, 2), (2, 1), 3),
    "as_strided of a part": lambda lib, x: x[1:].as_strided((2,), (1,)),
    "as_strided at the front of a part": lambda lib, x: x[1:].as_strided((2,), (1,), 0),
    "as_strided over itself": lambda lib, x: x.as_strided((3, 3), (1, 1)),
    "as_strided beyond": lambda lib, x: x.as_strided((9, 9), (2, 2)),
    "as_strided backwards": lambda lib, x: x.as_strided((2,), (-1,), 3),
    "as_strided unevenly": lambda lib, x: x.as_strided((2, 2), (1,)),
    "as_strided to nothing": lambda lib, x: x.as_strided((0, 2), (1, 1)),
    "as_strided to a number": lambda lib, x: x.as_strided((), (), 5),
    "unfold": lambda lib, x: x.unfold(1, 2, 1),
    "unfold apart": lambda lib, x: x.unfold(-1, 2, 2),
    "unfold too much": lambda lib, x: x.unfold(0, 9, 1),
    "unfold without a step": lambda lib, x: x.unfold(0, 1, 0),
    "unfold nowhere": lambda lib, x: x.unfold(3, 1, 1),
    "flip": lambda lib, x: x.flip(0),
    "flip both": lambda lib, x: x.flip((0, -1)),
    "flip twice": lambda lib, x: x.flip((0, 0)),
    "flip nowhere": lambda lib, x: x.flip(2),
    "clone": lambda lib, x: x.clone(),
    "clone of a part": lambda lib, x: x[:, 1:].clone(),
    "clone of columns": lambda lib, x: x.t().clone(),
    "clone of a diagonal": lambda lib, x: x.diagonal().clone(),
}
PLACES = {
    "index_select": lambda lib, x: x.index_select(0, lib.tensor([2, 0, 0])),
    "index_select of columns": lambda lib, x: x.index_select(-1, lib.tensor([3])),
    "index_select many": lambda lib, x: x.index_select(0, lib.arange(60) % 3),
    "index_select beyond": lambda lib, x: x.index_select(0, lib.tensor([3])),
    "index_select below": lambda lib, x: x.index_select(0, lib.tensor([-1])),
    "index_select far below": lambda lib, x: x.index_select(0, -lib.arange(60)),
    "index_select by int32": lambda lib, x: x.index_select(0, lib.tensor([1], dtype=lib.int32)),
    "index_select by none": lambda lib, x: x.index_select(0, lib.tensor([], dtype=lib.int64)),
    "index_select by floats": lambda lib, x: x.index_select(0, lib.tensor([1.0])),
    "index_select by a matrix": lambda lib, x: x.index_select(0, lib.tensor([[1]])),
    "index_select of a number": lambda lib, x: x[0, 0].index_select(0, lib.tensor([0])),
    "index_add": lambda lib, x: x.index_add(0, lib.tensor([2, 0]), x[:2], alpha=-1),
    "index_add at one place": lambda lib, x: x.index_add(1, lib.tensor([1, 1]), x[:, 2:], alpha=2),
    "index_add at one": lambda lib, x: x.index_add(0, lib.tensor([1]), x),
    "index_add below": lambda lib, x: x.index_add(0, lib.tensor([-1]), x[:1], alpha=2),
    "index_copy": lambda lib, x: x.index_copy(0, lib.tensor([2, 0]), x[:2]),
    "index_copy beyond": lambda lib, x: x.index_copy(0, lib.tensor([4]), x[:1]),
    "index_copy of others": lambda lib, x: x.index_copy(0, lib.tensor([1]), x[:1, :2]),
    "masked_select": lambda lib, x: x.masked_select(x > 5),
    "masked_select of rows": lambda lib, x: x.masked_select(x[0] > 1),
    "masked_select by ints": lambda lib, x: x.masked_select(lib.ones(3, 4, dtype=lib.int64)),
}
FACTORIES = {
    "zeros": lambda lib, x: lib.zeros(2, 3, dtype=lib.int64),
    "zeros of a tuple": lambda lib, x: lib.zeros((2, 0), dtype=lib.bool, device="cpu"),
    "zeros of no size": lambda lib, x: lib.zeros((), dtype=lib.float64),
    "zeros of less": lambda lib, x: lib.zeros(-1, dtype=lib.float64),
    "zeros of a float": lambda lib, x: lib.zeros(2.0, dtype=lib.float64),
    "zeros of True": lambda lib, x: lib.zeros((True,), dtype=lib.float64),
    "zeros of a size": lambda lib, x: lib.zeros(x.shape, dtype=x.dtype, requires_grad=x.dtype.is_floating_point),
    "integers with a gradient": lambda lib, x: lib.ones(2, dtype=lib.int64, requires_grad=True),
    "ones": lambda lib, x: lib.ones([2, 3], dtype=lib.complex64),
    "ones of bfloat16": lambda lib, x: lib.ones(2, dtype=lib.bfloat16).float(),
    "full": lambda lib, x: lib.full((2, 3), 2.5, dtype=lib.float64),
    "full of an int": lambda lib, x: lib.full((2,), 7),
    "full of a bool": lambda lib, x: lib.full((2,), True),
    "full of infinity": lambda lib, x: lib.full((2,), -float("inf")),
    "full of nan": lambda lib, x: lib.full((2,), float("nan"), dtype=lib.float32),
    "full of -0": lambda lib, x: 1 / lib.full((2,), -0.0, dtype=lib.float32),
    "full of much": lambda lib, x: lib.full((2,), 1e39, dtype=lib.float32),
    "full beyond": lambda lib, x: lib.full((2,), 300, dtype=lib.uint8),
    "full of less": lambda lib, x: lib.full((2,), -1, dtype=lib.uint8),
    "full of a float as int": lambda lib, x: lib.full((2,), 2.7, dtype=lib.int64),
    "full of a third as half": lambda lib, x: lib.full((2,), 1 / 3, dtype=lib.float16),
    "full of an int as bool": lambda lib, x: lib.full((2,), 2, dtype=lib.bool),
    "ones_like": lambda lib, x: lib.ones_like(x, dtype=lib.float64, device="cpu"),
    "ones_like of columns": lambda lib, x: lib.ones_like(x.t(), dtype=lib.float64),
    "zeros_like": lambda lib, x: lib.zeros_like(x, dtype=lib.int8),
    "full_like": lambda lib, x: lib.full_like(x, 3),
    "full_like of a fraction": lambda lib, x: lib.full_like(x, 0.1, dtype=lib.float64),
    "new_zeros": lambda lib, x: x.new_zeros(2, 3),
    "new_ones": lambda lib, x: x.new_ones((2,), dtype=lib.int32),
    "new_full": lambda lib, x: x.new_full((2,), 3),
    "new_empty": lambda lib, x: x.new_empty((0, 2)),
    "empty": lambda lib, x: lib.empty(0, 3, dtype=lib.int16, device="cpu"),
    "empty_like": lambda lib, x: lib.empty_like(x[:0], dtype=lib.float64),
    "fill": lambda lib, x: lib.fill(x, value=2),
    "scalar_tensor": lambda lib, x: lib.scalar_tensor(5),
    "scalar_tensor of a dtype": lambda lib, x: lib.scalar_tensor(5, dtype=lib.int64),
    "eye": lambda lib, x: lib.eye(3, dtype=lib.int64),
    "eye with a gradient": lambda lib, x: lib.eye(2, requires_grad=True),
    "eye of less": lambda lib, x: lib.eye(-1),
    "eye of none": lambda lib, x: lib.eye(0, 2),
}
CASES = VIEWS | PLACES | FACTORIES
SOURCES = {
    "float32": lambda lib, a: lib.from_numpy(a.copy()),
    "int64": lambda lib, a: lib.from_numpy(a.astype(np.int64)),
    "bool": lambda lib, a: lib.from_numpy(a > 5),
    "complex64": lambda lib, a: lib.from_numpy((a + 1j).astype(np.complex64)),
    "columns": lambda lib, a: lib.from_numpy(np.ascontiguousarray(a.T)).t(),
    "a part": lambda lib, a: lib.from_numpy(np.pad(a, 1))[1:-1, 1:-1],
    "a leaf": lambda lib, a: lib.from_numpy(a.copy()).requires_grad_(),
    "a result": lambda lib, a: lib.from_numpy(a.copy()).requires_grad_() * 2,
}


@pytest.mark.parametrize("part", [(slice(None),), (slice(0, 1),), (slice(1, 2), None), (slice(2, 3), slice(1, 2))], ids=str)
def test_pairs_keep_the_steps_along_sizes_of_1(part):
    found = []
    for lib in LIBRARIES:
        x = lib.arange(24.0).view(3, 4, 2)[part]
        z = lib.view_as_complex(x)
        y = lib.view_as_real(z)
        z += 1
        found.append((z.tolist(), z.stride(), y.stride(), y.storage_offset(), x.tolist()))
    assert found[0] == found[1]


ARRAY = np.arange(12, dtype=np.float32).reshape(3, 4)
MODES = ("enable_grad", "no_grad", "inference_mode")


def _made(lib, source, name, mode, told):
    x = SOURCES[source](lib, ARRAY)
    with getattr(lib, mode)():
        return results(lambda: CASES[name](lib, x), told)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("source", SOURCES)
def test_results_are_pytorchs(source, name):
    ours, theirs = (_made(lib, source, name, "enable_grad", seen) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_ordinary_way(name):
    tenfold.exp(tenfold.ones(3))  # brings native code
    if session().paths is None:
        pytest.skip("no native call paths here")
    for source in SOURCES:
        for mode in MODES:
            same_both_ways(lambda s=source, m=mode: _made(tenfold, s, name, m, seen_whole), (source, mode))
