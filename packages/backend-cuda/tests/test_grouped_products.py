"""Products of slices of matrices by kernels of the device, with their gradients, against the CPU; one launch, no waiting."""

from __future__ import annotations

import pytest
from both_devices import assert_close, both, drawn

import tenfold
from tenfold.cuda.kernels import grouped_products
from tenfold.nn import functional as F

CASES = {
    "rows": ((40, 16), (3, 16, 24), [3, 3, 30]),
    "columns": ((3, 10, 16), (16, 48), [5, 20, 48]),
    "sums": ((16, 40), (40, 24), [3, 3, 30]),
    "several tiles of rows": ((150, 40), (4, 40, 70), [0, 70, 71, 140]),
    "several tiles of columns": ((4, 70, 40), (40, 150), [0, 70, 71, 150]),
    "several tiles of sums": ((70, 150), (150, 40), [0, 70, 71, 150]),
    "single ones": ((8, 1), (2, 1, 1), [3, 8]),
    "multiples of 16": ((96, 64), (3, 64, 32), [5, 40, 96]),
    "one slice": ((8, 16), (1, 16, 8), [8]),
    "nothing in slices": ((8, 16), (2, 16, 8), [0, 0]),
    "slices beyond the end": ((8, 16), (2, 16, 8), [3, 99]),
}


def product(offs):
    return lambda a, b: F.grouped_mm(a, b, offs=tenfold.tensor(offs, dtype=tenfold.int32, device=a.device))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", CASES)
def test_slices(name, dtype):
    first, second, offs = CASES[name]
    for expected, got in both(product(offs), drawn(first, dtype), drawn(second, dtype, 1)):
        assert_close(got, expected, 8, name)


LAYOUTS = {"transposed": lambda x: x.mT.contiguous().mT, "strided": lambda x: tenfold.stack([x, x], -1)[..., 0]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["rows", "columns", "sums"])
def test_layouts(name, layout):
    first, second, offs = CASES[name]
    move = LAYOUTS[layout]
    for expected, got in both(lambda a, b: product(offs)(move(a), move(b)), drawn(first), drawn(second, seed=1)):
        assert_close(got, expected, 8, layout)


def test_infinite_rows_stay_in_their_slice():
    a, b = drawn((20, 8)), drawn((3, 8, 8), seed=1)
    a[5], a[19] = float("inf"), float("nan")
    offs = tenfold.tensor([4, 5, 12], dtype=tenfold.int32)
    found = F.grouped_mm(a.to("cuda"), b.to("cuda"), offs=offs.to("cuda")).cpu()
    assert found.isfinite().all(1).tolist() == [row != 5 for row in range(20)]
    assert not found[12:].any()


def test_slices_are_not_asked_for(monkeypatch):
    """Of sizes that the kernels serve nobody reads where slices end, which is what would have to be waited for."""
    a, b = drawn((40, 16)).to("cuda").requires_grad_(), drawn((3, 16, 24)).to("cuda").requires_grad_()
    offs = tenfold.tensor([3, 3, 30], dtype=tenfold.int32).to("cuda")

    def asked(*given):
        raise AssertionError("the body ran")

    monkeypatch.setattr("tenfold.nn.ops.grouped._slices", asked)
    F.grouped_mm(a, b, offs=offs).sum().backward()
    assert a.grad.shape == a.shape
    assert b.grad.shape == b.shape


def test_tiles_by_how_long_slices_are():
    assert [grouped_products.tile(rows, False)[0] for rows in (1, 16, 17, 64, 129)] == [16, 16, 32, 64, 128]
