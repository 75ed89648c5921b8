"""Scenarios of reductions and scans: one launch each, whatever the dtype and layout, no copy, and nothing that waits."""

from __future__ import annotations

import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold import cuda
from tenfold.cuda import runtime
from tenfold.cuda.kernels import counters

ONCE = {
    "sum": lambda x: x.sum(), "sum of columns": lambda x: x.sum(0), "mean of rows": lambda x: x.mean(-1),
    "max": lambda x: x.max(1),
    "argmin": lambda x: x.argmin(), "var": lambda x: x.var(0), "any": lambda x: (x.view(-1)).any(), "norm": lambda x: x.norm(),
    "logsumexp": lambda x: x.logsumexp(1), "of what is strided": lambda x: x.t()[1:, ::2].sum(0), "prod": lambda x: x.prod(1),
    "aminmax": lambda x: x.aminmax(), "aminmax of columns": lambda x: x.aminmax(dim=0, keepdim=True),
    "count": lambda x: x.count_nonzero(), "nansum": lambda x: x.nansum(),
    "cummax": lambda x: x.cummax(0), "cumsum": lambda x: x.cumsum(1), "logcumsumexp": lambda x: x.logcumsumexp(0),
}  # fmt: skip


def case_a_reduction_is_one_launch_without_a_copy():
    """Each in both types and both shapes, but not in all four pairs of them: a launch of each is compiled."""
    types, shapes = (tenfold.float32, tenfold.bfloat16), ((8, 16), (3000, 70))
    for place, (name, call) in enumerate(ONCE.items()):
        for dtype, shape in zip(types, shapes if place % 2 else shapes[::-1]):
            if shape[0] == 3000 and name in ("cummax", "logcumsumexp"):
                continue
            x = array(*shape, dtype=dtype)
            work = quiet(stub.settled(lambda call=call, x=x: call(x)))
            assert work.names in (["reduction"], ["scan"]), (name, shape, dtype, work.names)
            assert "memset" not in work.counts, name


def case_complex_numbers_are_reduced_and_scanned_in_one_launch():
    for shape in ((8, 16), (3000, 70)):
        x = array(*shape, dtype=tenfold.complex64)
        for name in ("sum", "mean", "of what is strided", "prod", "any", "norm", "count", "cumsum", "cumprod", "logcumsumexp"):
            call = ONCE.get(name) or (lambda x, name=name: getattr(x, name)(1))
            work = quiet(stub.settled(lambda call=call, x=x: call(x)))
            divided = name == "logcumsumexp" and shape[0] == 3000  # whose tiles are small
            assert work.names in ([["scan", "scan"]] if divided else (["reduction"], ["scan"])), (name, shape, work.names)
            assert "memset" not in work.counts, name


def case_covariances_are_a_mean_a_difference_and_a_product():
    for dtype in (tenfold.float32, tenfold.bfloat16):
        x = array(16, 64, dtype=dtype)
        for call, launches in ((x.cov, ["reduction", "sub"]), (x.corrcoef, ["reduction", "sub", "correlation"])):
            work = quiet(stub.settled(call))
            assert [name.split("_")[0] for name in work.names] == launches
            assert work.products == 1


def case_few_long_lines_are_scanned_in_parts():
    for x, dim in ((array(1 << 18), 0), (array(1 << 12, 16), 0), (array(2, 1 << 16), 1)):
        work = quiet(stub.settled(lambda x=x, dim=dim: x.cumsum(dim)))
        assert work.names == ["scan", "scan"]
        assert work.launches[0].grid[1] >= 8


def case_a_large_sum_has_work_for_a_whole_gpu():
    given = (1 << 22,), (1 << 16, 64), (1 << 13, 512), (64, 16, 64, 64)
    for x, dims in zip((array(*shape) for shape in given), (None, 0, 0, (0, 2, 3))):
        work = quiet(stub.settled(lambda x=x, dims=dims: x.sum(dims)))
        (launch,) = work.launches
        assert 256 <= launch.grid[0] * launch.grid[1] <= 2048, (x.shape, launch)


def case_a_call_that_was_seen_before_goes_straight_to_the_driver():
    x, y = array(64, 64), array(1 << 16)
    calls = (x.sum, lambda: x.mean(-1), lambda: x.sum(0), y.sum, lambda: x.max(1))
    for call in calls:
        call()
    general, runtime.current().launch_grid = runtime.current().launch_grid, None
    try:
        for call in calls:
            assert quiet(stub.work(call)).names == ["reduction"]
    finally:
        runtime.current().launch_grid = general


def case_in_a_graph_counters_are_its_own():
    x = array(1 << 16)
    x.sum()
    known = dict(counters._counters)
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        y = x.sum()
    assert y.shape == ()
    assert all(known[key] is found for key, found in counters._counters.items() if key in known)
    assert x.sum().device == tenfold.device(DEVICE)


def case_means_of_numbers_membership_and_histograms_are_few_launches():
    x, known = array(32, 64), array(3)
    for call, most in (
        (lambda: x.nanmean(), 3), (lambda: x.nanmean(-1), 3), (lambda: tenfold.isin(x, known), 2),
        (lambda: tenfold.isin(x, known, invert=True), 2), (lambda: x.histc(), 5), (lambda: x.histc(10, 0, 1), 3),
    ):  # fmt: skip
        assert len(quiet(stub.settled(call)).names) <= most
