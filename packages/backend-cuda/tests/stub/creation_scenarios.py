"""What factories, draws and writes in place give the device to do: one launch where nothing has to be known, and no waits."""

from __future__ import annotations

import tracemalloc

import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold.nn import functional as F


def names(call):
    with tenfold.no_grad():
        return quiet(stub.settled(call)).names


def case_draws_are_made_in_place():
    x, half, whole = array(64, 64), array(64, 64, dtype=tenfold.bfloat16), array(64, 64, dtype=tenfold.int64)
    for call in (
        x.normal_, x.uniform_, lambda: x.bernoulli_(0.5), x.exponential_, x.cauchy_, x.log_normal_, lambda: whole.geometric_(0.5),
        half.normal_, half.uniform_, lambda: tenfold.nn.init.xavier_uniform_(x),
    ):  # fmt: skip
        assert names(call) == ["draw_samples"]
    for chances in (x, half):
        for call in (chances.bernoulli, lambda: whole.bernoulli_(chances), lambda: chances.bernoulli_(chances)):  # noqa: B023
            assert names(call) == ["draw_by_chances"]
    flags = array(64, dtype=tenfold.bool)
    assert names(lambda: flags.bernoulli_(0.5)) == ["draw_samples"]
    assert names(lambda: whole.random_(0, 9)) == ["draw_integers"]


def case_triangles_and_scatters_are_made_in_place():
    x, index = array(64, 64), array(64, 64, dtype=tenfold.int64)
    other = array(64, 64)
    assert names(x.tril_) == names(lambda: x.triu_(1)) == ["triangle"]
    assert names(lambda: x.scatter_(1, index, other)) == ["places_at"]


def case_numbers_are_written_at_once():
    x = array(64, 64)
    assert names(lambda: x.fill_diagonal_(1.0)) == ["cupy_fill"]
    for index, kernel in ((0, "filled"), ((Ellipsis, 0), "cupy_fill"), ((slice(None), slice(1, 5)), "cupy_fill")):
        assert names(lambda: x.__setitem__(index, 2)) == [kernel]  # noqa: B023
    for dtype in (tenfold.bool, tenfold.int8, tenfold.bfloat16, tenfold.float64, tenfold.complex64):
        made = lambda: tenfold.ones(3, 5, dtype=dtype, device=DEVICE)  # noqa: E731, B023
        assert names(made) == names(lambda: x.fill_(2)) == ["filled"]


def case_numbers_at_places_are_one_launch():
    x, index, mask = array(64, 64), array(5, dtype=tenfold.int64), array(64, 64, dtype=tenfold.bool)
    for value in (0, 0.5, -1, float("-inf")):
        for at, kernel in ((index, "rows_at"), ((index, index), "rows_at"), ((slice(None), index), "rows_at")):
            work = quiet(stub.settled(lambda: x.__setitem__(at, value)))  # noqa: B023
            assert (work.names, work.counts["memset"]) == ([kernel], 0)
        work = quiet(stub.settled(lambda: x.__setitem__(mask, value)))  # noqa: B023
        assert (len(work.launches), work.counts["memset"]) == (1, 0)


def case_two_dtypes_are_one_launch():
    x, half, whole = array(64, 64), array(64, 64, dtype=tenfold.bfloat16), array(64, 64, dtype=tenfold.int64)
    one, flags = array(), array(64, 64, dtype=tenfold.bool)
    for call in (
        lambda: x + half, lambda: half * x, lambda: half / x, lambda: x > half, lambda: x * flags, lambda: whole * x,
        lambda: half * one, lambda: tenfold.maximum(half, x), lambda: x.add_(half), lambda: half.mul_(x),
        lambda: x.add_(half, alpha=0.1), lambda: tenfold.sub(half, x, alpha=2),
    ):  # fmt: skip
        assert len(got := names(call)) == 1, got
    wanted = half.clone().requires_grad_()
    assert len(stub.settled(lambda: x + wanted).launches) == 1


def case_one_number_everywhere_is_none_of_the_hosts_memory():
    tenfold.ones(2, 2, device=DEVICE)
    tracemalloc.start()
    try:
        for make in (tenfold.zeros, tenfold.ones):
            make(1024, 1024, device=DEVICE)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def case_units_are_made_in_place():
    x = array(64, 64)
    for name in ("silu", "hardswish", "leaky_relu", "elu", "mish", "hardsigmoid", "selu", "relu6", "relu"):
        assert len(names(lambda: getattr(F, name)(x, inplace=True))) == 1, name  # noqa: B023
    for call in (lambda: x.clamp_(0.1), lambda: x.clamp_(max=1.0), x.nan_to_num_):
        assert len(names(call)) == 1


def case_masks_choose_without_waiting():
    x, source = array(64, 64), array(5000)
    mask = x == 0
    for call in (lambda: x.masked_scatter(mask, source), lambda: x.masked_scatter_(mask, source)):
        assert names(call) == ["scan", "scatter_masked"]
    assert names(lambda: tenfold.nonzero_static(mask, size=10)) == ["scan", "place_chosen"]
    chosen = array(5, dtype=tenfold.int64)
    assert names(lambda: x.index_fill_(0, chosen, 1.0)) == ["filled", "rows_at"]
    leaf = source.clone().requires_grad_()
    work = stub.work(lambda: x.masked_scatter(mask, leaf).sum().backward())
    assert "to_host" not in work.counts, work


def case_regular_numbers_are_one_launch():
    for call in (
        lambda: tenfold.linspace(0, 1, 100, device=DEVICE), lambda: tenfold.arange(10, device=DEVICE),
        lambda: tenfold.arange(0, 1, 0.1, device=DEVICE), lambda: tenfold.arange(10, dtype=tenfold.bfloat16, device=DEVICE),
    ):  # fmt: skip
        assert names(call) == ["ranges"]
    for dtype in (tenfold.float32, tenfold.bfloat16, tenfold.bool):
        assert names(lambda: tenfold.eye(10, dtype=dtype, device=DEVICE)) == ["identity"]  # noqa: B023


def case_memory_that_nobody_wrote_is_filled_where_all_is_to_be_deterministic():
    tenfold.use_deterministic_algorithms(True)
    try:
        for dtype in (
            tenfold.float32, tenfold.float16, tenfold.bfloat16, tenfold.float64, tenfold.int64, tenfold.uint8, tenfold.bool,
            tenfold.complex64, tenfold.complex128, tenfold.float8_e4m3fn,
        ):  # fmt: skip
            assert tenfold.empty(3, 5, dtype=dtype, device=DEVICE).shape == (3, 5), dtype
            assert tenfold.empty_like(array(4, dtype=dtype), device="cuda:1").device.index == 1
        work = quiet(stub.settled(lambda: tenfold.empty(64, 64, device=DEVICE)))
        assert "cast_f_lp0_" in work.names
        assert array(2).resize_(5).shape == (5,)
        x, i = array(3, 8), tenfold.zeros(2, dtype=tenfold.int64, device=DEVICE)
        assert x.index_add_(0, i, array(2, 8)).shape == (3, 8)
        assert tenfold.zeros(4, device=DEVICE).scatter_add_(0, i, array(2)).shape == (4,)
        assert F.embedding(i, array(3, 8).requires_grad_()).sum().backward() is None
        assert x.cumsum(0).shape == (3, 8)
        x[tenfold.tensor([0, 1], device=DEVICE)] = 2.0
        F.max_pool2d(array(1, 1, 4, 4).requires_grad_(), 2).sum().backward()
        F.interpolate(array(1, 1, 4, 4).requires_grad_(), scale_factor=2, mode="bilinear").sum().backward()
        F.conv2d(array(1, 3, 8, 8).requires_grad_(), array(4, 3, 3, 3).requires_grad_()).sum().backward()
        F.cross_entropy(array(4, 8).requires_grad_(), tenfold.zeros(4, dtype=tenfold.int64, device=DEVICE)).backward()
    finally:
        tenfold.use_deterministic_algorithms(False)
