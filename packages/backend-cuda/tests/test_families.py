"""Kernels of the array module that are reached through other operators only: indices, scattering, selection with positions."""

from __future__ import annotations

import pytest

import tenfold

X = tenfold.tensor([[3.0, 1.0, 2.0, 1.0], [0.5, -1.0, 7.0, 2.5], [4.0, 4.0, -2.0, 0.0]])
ROWS, COLUMNS = tenfold.tensor([2, 0, 2]), tenfold.tensor([1, 3, 1])
PLACES = tenfold.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])

CALLS = {
    "index": lambda x, rows, columns, places: x[rows, columns],
    "index with a gap": lambda x, rows, columns, places: x[:, columns],
    "index by a mask": lambda x, rows, columns, places: x[x > 1],
    "index_put": lambda x, rows, columns, places: x.index_put((rows,), x[:1] * 0 + 9),
    "index_put accumulate": lambda x, rows, columns, places: x.index_put((rows, columns), x[0, :3], accumulate=True),
    "rows accumulate": lambda x, rows, columns, places: x.index_put((rows,), x, accumulate=True),
    "setitem": lambda x, rows, columns, places: assigned(x.clone(), rows, columns),
    "scatter": lambda x, rows, columns, places: x.scatter(0, places, x),
    "scatter a number": lambda x, rows, columns, places: x.scatter(0, places, 5),
    "scatter_add": lambda x, rows, columns, places: x.scatter_add(0, places, x),
    "scatter_reduce": lambda x, rows, columns, places: x.scatter_reduce(0, places, x, "amax"),
    "gather": lambda x, rows, columns, places: x.gather(0, places),
    "repeat": lambda x, rows, columns, places: x.repeat_interleave(rows, dim=0),
    "max": lambda x, rows, columns, places: x.max(1),
    "min": lambda x, rows, columns, places: x.min(0),
    "sort": lambda x, rows, columns, places: x.sort(1, descending=True),
    "topk": lambda x, rows, columns, places: x.topk(2, 1).values,  # which of equals is named is left open
    "kthvalue": lambda x, rows, columns, places: x.kthvalue(2, 1),
    "median": lambda x, rows, columns, places: x.median(1),
    "mode": lambda x, rows, columns, places: x.mode(1),
    "cummax": lambda x, rows, columns, places: x.cummax(1),
    "unique": lambda x, rows, columns, places: x.unique(return_counts=True),
    "searchsorted": lambda x, rows, columns, places: tenfold.searchsorted(x[0].sort()[0], x),
    "norm": lambda x, rows, columns, places: x.norm(dim=1),
    "bincount": lambda x, rows, columns, places: rows.bincount(minlength=5),
    "histc": lambda x, rows, columns, places: x.float().histc(4, -2, 8),
    "var": lambda x, rows, columns, places: x.var(1),
    "stack": lambda x, rows, columns, places: tenfold.stack([x, x * 2], -1),
    "cat": lambda x, rows, columns, places: tenfold.cat([x, x[:, :1]], 1),
    "tril": lambda x, rows, columns, places: x.tril(),
    "roll": lambda x, rows, columns, places: x.roll(1, 1),
    "softmax": lambda x, rows, columns, places: x.softmax(1),
    "bmm": lambda x, rows, columns, places: x[None].matmul(x.t()[None]),
    "complex": lambda x, rows, columns, places: tenfold.complex(x.float(), -x.float()),
    "view_as_real": lambda x, rows, columns, places: tenfold.view_as_real(tenfold.complex(x.float(), -x.float())),
    "gcd": lambda x, rows, columns, places: (rows * 6).gcd(columns * 4),
}


def assigned(x, rows, columns):
    x[rows, columns] = 9
    return x


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float16], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(name, dtype):
    given = (X.to(dtype), ROWS, COLUMNS, PLACES)
    expected, got = CALLS[name](*given), CALLS[name](*(t.cuda() for t in given))
    pairs = zip(expected, got, strict=True) if isinstance(expected, tuple) else [(expected, got)]
    for e, g in pairs:
        assert g.device.type == "cuda"
        assert g.dtype is e.dtype
        assert g.cpu().allclose(e, rtol=2e-2 if dtype is not tenfold.float32 else 1e-5, atol=1e-6)


def test_integer_sums_at_one_place():
    for dtype in (tenfold.int64, tenfold.int32, tenfold.uint8):
        x = tenfold.zeros(3, dtype=dtype, device="cuda")
        ones = tenfold.tensor([200, 100, 3], dtype=dtype, device="cuda")
        expected = x.cpu().index_put((tenfold.tensor([0, 0, 2]),), ones.cpu(), accumulate=True)
        assert x.index_put((tenfold.tensor([0, 0, 2], device="cuda"),), ones, accumulate=True).tolist() == expected.tolist()


def test_an_index_out_of_bounds_is_refused():
    x = tenfold.zeros(3, device="cuda")
    with pytest.raises(RuntimeError, match="an index given to gather was out of bounds"):
        x.gather(0, tenfold.tensor([3], device="cuda"))
