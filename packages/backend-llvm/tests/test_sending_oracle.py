"""Numbers sent to places: PyTorch's values of every dtype, where places are equal, strided or none at all, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compared_calls import outcome, refused_alike

import tenfold

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64")
KINDS = ("sum", "prod", "mean", "amax", "amin")
SHAPES = [
    ((50,), 0, 700),
    ((20, 30), 0, 90),
    ((20, 30), 1, 90),
    ((4, 5, 6), 1, 40),
    ((3, 1100), 0, 7),
    ((5, 1), -1, 3),
    ((4, 6), 0, 0),
]
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 65504.0]


def numbers(shape: Any, dtype: str, special: bool = False) -> Any:
    found = RNG.integers(-4, 5, shape).astype(np.float64) if dtype == "int64" else RNG.standard_normal(shape).astype(np.float32)
    if special and found.size > 20:
        found.flat[RNG.integers(0, found.size, 8)] = RNG.choice(SPECIAL, 8)
    return found


def sized(shape: Any, dim: int, many: int) -> tuple[int, ...]:
    return tuple(many if d == dim % len(shape) else n for d, n in enumerate(shape))


def each(call: Any, dtype: str, *arrays: Any) -> list[Any]:
    return [outcome(call, m, *(m.tensor(a).to(getattr(m, dtype)) if a.dtype.kind == "f" else m.tensor(a) for a in arrays))
            for m in (tenfold, torch)]  # fmt: skip


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if refused_alike(ours, theirs, what):
        return
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy(), err_msg=str(what))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim", "many"), SHAPES)
def test_scatter(shape, dim, many, dtype):
    for special in (False, True) if dtype != "int64" else (False,):
        x, src = numbers(shape, dtype), numbers(sized(shape, dim, many), dtype, special)
        index = RNG.integers(0, shape[dim], src.shape)
        calls = {
            "scatter_add": lambda m, x, i, s: x.scatter_add(dim, i, s), "in place": lambda m, x, i, s: x.scatter_add_(dim, i, s),
            "recorded": lambda m, x, i, s: x.scatter_add(dim, i, s.requires_grad_() if dtype != "int64" else s).detach(),
            "turned": lambda m, x, i, s: x.scatter_add(dim, i.t().contiguous().t() if i.dim() == 2 else i, s),
        }  # fmt: skip
        for kind in KINDS:
            for own in (True, False):
                calls[f"{kind} {own}"] = lambda m, x, i, s, kind=kind, own=own: x.scatter_reduce(
                    dim, i, s, kind, include_self=own
                )
                calls[f"{kind}_ {own}"] = lambda m, x, i, s, kind=kind, own=own: x.scatter_reduce_(
                    dim, i, s, kind, include_self=own
                )
        for name, call in calls.items():
            alike(*each(call, dtype, x, index, src), (name, special))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim", "many"), SHAPES)
def test_slices_and_rows(shape, dim, many, dtype):
    x, src = numbers(shape, dtype), numbers(sized(shape, dim, many), dtype)
    index = RNG.integers(0, shape[dim], many)
    alike(*each(lambda m, x, i, s: x.index_add(dim, i, s), dtype, x, index, src), "index_add")
    alike(*each(lambda m, x, i, s: x.index_add_(dim, i, s), dtype, x, index, src), "index_add_")
    if dim == 0:
        negative = np.where(RNG.random(many) < 0.3, index - shape[0], index)
        for places in (index, negative):
            alike(*each(lambda m, x, i, s: x.index_put((i,), s, accumulate=True), dtype, x, places, src), "index_put")
            alike(*each(lambda m, x, i, s: x.index_put_((i,), s, accumulate=True), dtype, x, places, src), "index_put_")
        alike(*each(lambda m, x, i: x.index_put((i,), m.ones(()).to(x.dtype), accumulate=True), dtype, x, index), "one number")
    if len(shape) > 1:
        rows, columns = RNG.integers(-shape[0], shape[0], 300), RNG.integers(0, shape[1], 300)
        given = numbers((300, *shape[2:]), dtype)
        alike(*each(lambda m, x, i, j, s: x.index_put((i, j), s, accumulate=True), dtype, x, rows, columns, given), "two")


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_beyond(dtype):
    x, src = numbers((6, 5), dtype), numbers((80, 5), dtype)
    for bad in (6, -1, -7, 2**40):
        index = RNG.integers(0, 6, (80, 5))
        index[-1, 2] = bad
        alike(*each(lambda m, x, i, s: x.scatter_add(0, i, s), dtype, x, index, src), bad)
        alike(*each(lambda m, x, i, s: x.scatter_reduce(0, i, s, "amax"), dtype, x, index, src), bad)
        rows = np.ascontiguousarray(index[:, 2])
        alike(*each(lambda m, x, i, s: x.index_add(0, i, s), dtype, x, rows, src), bad)
        alike(*each(lambda m, x, i, s: x.index_put((i,), s, accumulate=True), dtype, x, rows, src), bad)


def test_memory_that_is_shared():
    for m in (tenfold, torch):
        x = m.ones(64)
        with pytest.raises(RuntimeError):
            x.scatter_add_(0, m.zeros(64).long(), x)


@pytest.mark.parametrize("dtype", DTYPES[:4])
@pytest.mark.parametrize("width", [1, 3, 20, 64])
def test_gradients_of_tables(width, dtype):
    table, index, g = numbers((30, width), dtype), RNG.integers(0, 30, (90, 4)), numbers((90, 4, width), dtype)

    def slope(m: Any, w: Any, i: Any, g: Any, padding: int | None, whole: bool) -> Any:
        w.requires_grad_()
        made = m.nn.functional.embedding(i, w, padding_idx=padding)
        (made.sum() if whole else made).backward(None if whole else g)
        return w.grad

    for padding in (None, 3):
        for whole in (False, True):
            alike(*each(lambda m, w, i, g: slope(m, w, i, g, padding, whole), dtype, table, index, g), (padding, whole))  # noqa: B023


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_interpreters_loops_are_not_asked(dtype, entered):
    x, index = tenfold.ones(1000).to(getattr(tenfold, dtype)), tenfold.zeros(1000).long()
    calls = {
        "scatter_add": lambda: x.scatter_add(0, index, x), "scatter_reduce": lambda: x.scatter_reduce(0, index, x, "amax"),
        "index_add": lambda: x.index_add(0, index, x), "index_put": lambda: x.index_put((index,), x, accumulate=True),
    }  # fmt: skip
    for name, call in calls.items():
        call()
        assert not {"_scatter", "add_at", "along"} & set(entered(call)), name
