"""Scenarios of sorting, selection and distinct values: how many launches, and that nothing waits but for a result's size."""

from __future__ import annotations

import stub
from scenarios import array, quiet

import tenfold
from tenfold import cuda
from tenfold.cuda import playing
from tenfold.cuda.kernels import sorting


def waits(work):
    return {name: n for name, n in work.counts.items() if name in ("sync", "to_host", "to_device")}


def case_short_rows_are_sorted_and_selected_in_one_launch():
    x = array(30, 3)
    for call in (
        x.sort, lambda: x.topk(2, 0), lambda: x.kthvalue(2), lambda: x.median(0), lambda: tenfold.searchsorted(x[0], x),
        lambda: tenfold.bucketize(x, x[0], right=True),
    ):  # fmt: skip
        assert len(quiet(stub.settled(call)).launches) == 1
    assert quiet(stub.settled(lambda: x.mode(0))).names == ["sort_tiles", "mode_rows"]


def case_long_rows_are_selected_and_merged_without_waiting():
    x = array(2, 40000)
    work = quiet(stub.settled(lambda: x.topk(3)))
    assert work.names == ["select_rows", "sort_tiles"]
    assert [launch.grid[0] for launch in work.launches] == [2 * 4, 1]  # a row in four parts
    assert quiet(stub.settled(lambda: x.kthvalue(3))).names == ["select_rows"]
    before = sorting.SHORT
    sorting.SHORT = 7  # a network that is compiled soon
    try:
        work = quiet(stub.settled(lambda: x[:, :1000].sort()))
    finally:
        sorting.SHORT = before
    assert work.names == ["sort_tiles", *["merge_tiles"] * 3]
    assert {launch.grid[0] for launch in work.launches} == {16}


def case_distinct_values_wait_for_their_number_alone():
    x, table = array(30), array(30, 2)
    playing.forget()  # and the small results that played calls keep
    cuda.empty_cache()
    with cuda.use_mem_pool(cuda.MemPool()):  # new memory is zeros, and so is the number that no kernel has counted
        for call in (
            lambda: x.unique(return_inverse=True, return_counts=True), x.unique_consecutive, lambda: table.unique(dim=0),
            lambda: table.unique_consecutive(dim=1),
        ):  # fmt: skip
            assert waits(stub.settled(call)) == {"sync": 1, "to_host": 1}


def case_what_is_made_of_sorting_does_not_wait():
    x = array(2, 15)
    for call in (
        lambda: tenfold.isin(x, x[0]), lambda: tenfold.quantile(x, 0.3, 1), lambda: tenfold.multinomial(x, 3),
        lambda: tenfold.multinomial(x, 9, True), lambda: tenfold.randperm(30, device="cuda"),
    ):  # fmt: skip
        quiet(stub.settled(call))


def case_a_quantile_is_a_sort_and_three_launches():
    x = array(64, 100)
    for call in (lambda: x.quantile(0.3, 1), lambda: x.quantile(0.5, 1, interpolation="midpoint")):
        work = quiet(stub.settled(call))
        assert [name.split("_")[0] for name in work.names] == ["sort", "lerp", "isnan", "where"], work.names
    work = quiet(stub.settled(lambda: x.quantile(0.3, 1, interpolation="lower")))
    assert [name.split("_")[0] for name in work.names] == ["sort", "isnan", "where"], work.names
