"""What backward passes give the device to do: their launches, and that they wait for nothing."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import stub
from scenarios import array, quiet

import tenfold
from tenfold.autograd.rules import passing


def backward(call, *shapes, dtype=tenfold.float32):
    """What the backward pass of a call gives the device to do, whose leaves have these shapes."""
    leaves = [array(*shape, dtype=dtype).requires_grad_() for shape in shapes]
    out = call(*leaves)
    g = tenfold.ones_like(out)
    return quiet(stub.settled(lambda: tenfold.autograd.grad(out, leaves, g, retain_graph=True)))


def case_gradients_of_views_are_one_launch():
    for dtype in (tenfold.float32, tenfold.bfloat16, tenfold.complex64):
        for call in (
            lambda x: x[:, 1:3], lambda x: x[1], lambda x: x.select(1, 2), lambda x: x.narrow(0, 2, 3), lambda x: x.diagonal(),
            lambda x: x.unfold(1, 4, 1), lambda x: x.unfold(1, 8, 3), lambda x: x.as_strided((10, 10), (3, 1)),
        ):  # fmt: skip
            work = backward(call, (16, 32), dtype=dtype)
            assert work.names == ["sums_of_regions"], (dtype, work)
            assert not work.counts["to_device"], work
    for call in (lambda x: x[:, None], lambda x: x[None, ..., None], lambda x: x[:]):
        assert backward(call, (16, 32)).names == []


def case_gradients_of_masks_do_not_wait():
    mask = tenfold.zeros(16, dtype=tenfold.bool, device="cuda")
    for shape, inner in (((16,), ()), ((16, 8), (8,))):
        g = array(5, *inner)
        with tenfold.no_grad():  # by its rule: a mask that nobody computed chooses any number of elements
            work = quiet(stub.settled(lambda: passing.whole("index by a mask", g, mask, shape)))
        assert work.names == ["scan", "elements_of_mask"]

    def put(x, y):
        x = x.clone()
        x[mask] = y
        return x

    assert len(backward(put, (16, 8), ()).names) <= 3


def case_gradients_of_elements_at_places_are_a_fill_and_a_launch():
    rows, columns = (tenfold.zeros(4, dtype=tenfold.int64, device="cuda") for _ in range(2))
    along = tenfold.zeros(16, 4, dtype=tenfold.int64, device="cuda")
    for call in (
        lambda x: x[rows], lambda x: x[:, columns], lambda x: x[rows, columns], lambda x: x.gather(1, along),
        lambda x: x.index_select(1, columns), lambda x: x.take(rows),
    ):  # fmt: skip
        for dtype, more in ((tenfold.float32, []), (tenfold.bfloat16, ["cast_f_ll0_"])):
            work = backward(call, (16, 32), dtype=dtype)
            assert [name.replace("places", "rows") for name in work.names] == ["rows_at", *more], work
            assert work.counts["memset"] == 1


def case_gradients_of_cumulative_products_are_one_launch():
    for dim in (0, 1):
        assert backward(lambda x: x.cumprod(dim), (32, 64)).names == ["slopes_of_products"]


def case_gradients_of_running_sums_are_one_launch():
    for dim in (0, 1):
        for dtype in (tenfold.float32, tenfold.bfloat16):
            assert backward(lambda x: x.cumsum(dim), (32, 64), dtype=dtype).names == ["scan"]
        assert len(backward(lambda x: x.logcumsumexp(dim), (32, 64)).names) <= 20


def case_complex_numbers_stay_on_the_device():
    assert backward(lambda x: x.abs(), (8, 8), dtype=tenfold.complex64).names == ["signs_of_pairs"]
    x = array(8, 8, dtype=tenfold.complex64)
    for call in (x.sgn, x.angle):
        assert len(quiet(stub.settled(call)).names) == 1


def case_an_extreme_of_all_has_its_gradient_in_three_launches():
    for call in (tenfold.max, tenfold.min):
        assert len(backward(call, (32, 64)).names) == 3


def case_rolled_dimensions_are_one_launch():
    x = array(2, 8, 8, 4)
    assert quiet(stub.settled(lambda: x.roll((1, 2), (1, 2)))).names == ["rolled"]
    assert backward(lambda x: x.roll((1, 2), (1, 2)), (2, 8, 8, 4)).names == ["rolled"]
