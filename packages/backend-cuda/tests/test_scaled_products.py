"""Products of 8-bit floating numbers with scales by kernels of the device, against the CPU: blocks and slices, every number."""

from __future__ import annotations

import pytest
from both_devices import assert_close, drawn

import tenfold
from tenfold.nn import functional as F

FOUR, FIVE = tenfold.float8_e4m3fn, tenfold.float8_e5m2
S = F.ScalingType


@pytest.fixture(autouse=True)
def kernels_only(monkeypatch):
    """The device must not run the operators' bodies."""

    def ran(x, *given):
        assert x.device.type == "cpu", "the body ran on the device"
        return body(x, *given)

    body = tenfold.Tensor.float
    monkeypatch.setattr(tenfold.Tensor, "float", ran)


def eight(*shape, dtype=FOUR, seed=0):
    return drawn(shape, seed=seed).to(dtype)


def on_both(function, *given, out=tenfold.float32, **more):
    to = lambda x: x.to("cuda") if isinstance(x, tenfold.Tensor) else x  # noqa: E731
    expected = function(*given, **more, output_dtype=out)
    got = function(*map(to, given), **{k: to(v) for k, v in more.items()}, output_dtype=out)
    assert_close(got, expected, 8)


def scales(recipe, outer, inner, padded=False):
    blocks = -(-inner // 128)
    if recipe is S.BlockWise1x128:
        return drawn((blocks, outer), seed=2).t()  # as PyTorch's lie
    return drawn((-(-outer // 128), -(-blocks // 4) * 4 if padded else blocks), seed=3).t()


SIZES = [(32, 256, 64), (5, 130, 7), (1, 1, 1), (150, 384, 272)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("squares", [(False, False), (False, True), (True, False)], ids=str)
@pytest.mark.parametrize("first", [FOUR, FIVE], ids=lambda d: d.name)
def test_blocks(sizes, squares, first):
    M, K, N = sizes
    recipes = [S.BlockWise128x128 if square else S.BlockWise1x128 for square in squares]
    a, b = eight(M, K, dtype=first), eight(N, K, seed=1)
    of_a, of_b = scales(recipes[0], M, K, padded=True), scales(recipes[1], N, K)
    on_both(F.scaled_mm, a, b.t(), of_a, recipes[0], of_b, recipes[1])
    on_both(F.scaled_mm, a, b.t(), of_a, recipes[0], of_b, recipes[1], bias=drawn((N,)), out=tenfold.bfloat16)


def test_blocks_of_matrices_that_lie_otherwise():
    a, b, row = eight(256, 32), eight(256, 48, seed=1), S.BlockWise1x128
    of_a, of_b = scales(row, 32, 256), scales(row, 48, 256)
    on_both(F.scaled_mm, a.t(), b, of_a, row, of_b, row)
    wide = eight(32, 512)[:, ::2]
    on_both(F.scaled_mm, wide, b, of_a.contiguous(), row, of_b.contiguous(), row, out=tenfold.float16)


@pytest.mark.parametrize("dtype", [FOUR, FIVE], ids=lambda d: d.name)
def test_every_number(dtype):
    """A product with the identity is the number itself: subnormal ones, infinities and nan among them."""
    every = tenfold.arange(256).to(tenfold.uint8).view(dtype).view(256, 1)
    one, row = tenfold.ones(1, 1).to(FOUR), S.BlockWise1x128
    on_both(F.scaled_mm, every, one, tenfold.ones(256, 1), row, tenfold.ones(1, 1), row)
    if dtype is FOUR:
        offs = tenfold.tensor([100, 256], dtype=tenfold.int32)
        stack = one.view(1, 1, 1).expand(2, 1, 1)
        on_both(F.scaled_grouped_mm, every, stack, tenfold.ones(256), S.RowWise, tenfold.ones(2, 1), S.RowWise, offs=offs)


SLICES = {
    "rows": ((40, 16), (3, 16, 24), (40,), (3, 24), [3, 3, 30]),
    "columns": ((3, 10, 16), (16, 48), (3, 10), (48,), [5, 20, 48]),
    "sums": ((16, 40), (40, 24), (48,), (72,), [3, 3, 30]),
    "stacks": ((3, 10, 16), (3, 16, 24), (3, 10), (3, 24), None),
    "several tiles of rows": ((150, 80), (4, 80, 144), (150,), (4, 144), [0, 70, 71, 140]),
    "multiples of 16": ((96, 64), (3, 64, 32), (96,), (3, 32), [5, 40, 96]),
}


@pytest.mark.parametrize("out", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", SLICES)
def test_slices(name, out):
    first, second, of_first, of_second, ends = SLICES[name]
    offs = None if ends is None else tenfold.tensor(ends, dtype=tenfold.int32)
    given = eight(*first), eight(*second, seed=1), drawn(of_first, seed=2), S.RowWise, drawn(of_second, seed=3), S.RowWise
    on_both(F.scaled_grouped_mm, *given, offs=offs, out=out)
    transposed = eight(*first[:-2], first[-1], first[-2]).mT
    on_both(F.scaled_grouped_mm, transposed, *given[1:], offs=offs, out=out)
