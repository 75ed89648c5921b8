"""What indexing, scattering and joining give the device to do."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import numpy as np
import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold.nn import functional as F

WHOLE, HALVES = (tenfold.float32, tenfold.int64), (tenfold.bfloat16, tenfold.float16)


def case_indexing_is_one_launch_and_does_not_wait():
    i = tenfold.zeros(5, dtype=tenfold.int64, device=DEVICE)
    short = i.int()
    for dtype in (*WHOLE, *HALVES, tenfold.complex64, tenfold.bool):
        x = array(8, 8, dtype=dtype)
        for call in (
            lambda: x[i], lambda: x[:, i], lambda: x[i, i], lambda: F.embedding(i, x),
            lambda: x.index_select(0, i), lambda: x.index_select(1, short), lambda: x[i][:0][i[:0]],
        ):  # fmt: skip
            work = quiet(stub.settled(call))
            assert work.names == ["rows_at"], (dtype, work)
        many = i[None].expand(8, 5).contiguous()
        for call in (lambda: x.gather(1, many), lambda: x.t()[i], lambda: x[i[:, None], i], lambda: x[:, ::2].index_select(0, i)):
            work = quiet(stub.settled(call))
            assert work.names == ["places_at"], (dtype, work)


def case_sums_at_one_place_are_atomic_and_do_not_wait():
    i = tenfold.zeros(5, dtype=tenfold.int64, device=DEVICE)
    for dtype in (*WHOLE, *HALVES):
        y, rows = array(8, 8, dtype=dtype), array(5, 8, dtype=dtype)
        for call, name in (
            (lambda: y.index_add_(0, i, rows), "rows_at"), (lambda: y.index_put_((i,), rows, accumulate=True), "rows_at"),
            (lambda: y.scatter_add_(0, i[:, None].expand(5, 8).contiguous(), rows), "places_at"),
        ):  # fmt: skip
            names = quiet(stub.settled(call)).names
            assert names.count(name) == 1, (dtype, names)
            assert len(names) <= 4, (dtype, names)  # core computes, then writes; half precision is widened and rounded
        assert quiet(stub.settled(lambda: y.index_put_((i,), rows))).names == ["rows_at"]
    weight = array(50, 16).requires_grad_()
    grad = array(5, 16)
    for _ in range(2):  # the first addition to a gradient finds its kernel: it takes the long way, whose result is written back
        F.embedding(i, weight).backward(grad)
    for padding, launches in ((None, 2), (3, 2)):
        work = quiet(stub.settled(lambda: F.embedding(i, weight, padding).backward(grad)))
        assert work.names.count("rows_at") == launches, work


def case_reductions_at_one_place_do_not_wait():
    i = tenfold.zeros(5, 8, dtype=tenfold.int64, device=DEVICE)
    x, src = array(8, 8), array(5, 8)
    for reduce, most in (("sum", 2), ("mean", 7), ("amax", 4), ("amin", 4)):
        for inside in (True, False):
            work = quiet(stub.settled(lambda: x.scatter_reduce(0, i, src, reduce, include_self=inside)))
            assert len(work.launches) <= most + 2 * (not inside), (reduce, work.names)
    lengths = tenfold.full((2,), 4, device=DEVICE)
    offsets = tenfold.arange(0, 9, 4, device=DEVICE)
    assert quiet(stub.settled(lambda: tenfold.op.reduced_segments(x, offsets, "amax", None))).names == ["segments_reduced"]
    quiet(stub.settled(lambda: tenfold.segment_reduce(x, "mean", lengths=lengths, unsafe=True)))
    assert "histogram" in quiet(stub.settled(lambda: tenfold.histc(x, 4, 0, 1))).names
    quiet(stub.settled(lambda: tenfold.histc(x, 4)))


def case_writes_in_place_copy_nothing_and_wait_for_no_mask():
    i, x, rows = tenfold.zeros(5, dtype=tenfold.int64, device=DEVICE), array(8, 8), array(5, 8)
    mask, one = tenfold.zeros(8, 8, dtype=tenfold.bool, device=DEVICE), array()
    for call, names in (
        (lambda: x.index_copy_(0, i, rows), ["rows_at"]),
        (lambda: x.index_add_(0, i, rows), ["rows_at"]),
        (lambda: x.scatter_(0, i[:, None].expand(5, 8), 1.0), ["filled", "rows_at"]),
        (lambda: x.masked_fill_(mask, one), ["where_f_llpl0b__"]),
        (lambda: x.__setitem__(mask, one), ["where_f_llpl0b__"]),
        (lambda: x.__setitem__(mask, 1.5), ["where_f_llpl0b__"]),
    ):
        assert quiet(stub.settled(call)).names == names, (names, stub.settled(call).names)
    quiet(stub.settled(lambda: x.__setitem__(mask[0], 1.5)))
    quiet(stub.settled(lambda: F.one_hot(i, 4)))


def case_deterministic_sums_are_sorted():
    i = tenfold.zeros(5, dtype=tenfold.int64, device=DEVICE)
    y, rows = array(8, 8), array(5, 8)
    tenfold.use_deterministic_algorithms(True)
    try:
        work = quiet(stub.settled(lambda: y.index_add_(0, i, rows)))
    finally:
        tenfold.use_deterministic_algorithms(False)
    assert "segments_reduced" in work.names, work
    assert work.counts["sort"] == 1, work


def case_joining_is_one_launch_for_eight():
    for dtype in (*WHOLE, *HALVES, tenfold.complex64, tenfold.bool):
        x = array(8, 8, dtype=dtype)
        for many in (2, 8):
            for call in (
                lambda: tenfold.cat([x] * many),
                lambda: tenfold.cat([x] * many, 1),
                lambda: tenfold.stack([x] * many, 1),
            ):
                assert quiet(stub.settled(call)).names == ["join_rows"], dtype
        assert quiet(stub.settled(lambda: tenfold.cat([x] * 17))).names == ["join_rows"] * 3
        assert quiet(stub.settled(lambda: tenfold.cat([x, x[:, :4]], 1))).names == ["join_rows"]
        wide = array(1, 65536 * 256 + 1, dtype=dtype) if dtype is tenfold.bool else x  # more columns than a grid is wide
        for call in (x.tril, x.triu, x.t().tril, x[:, 1:].triu, wide.tril):
            assert quiet(stub.settled(call)).names == ["triangle"], dtype
        assert quiet(stub.settled(lambda: x.roll((1, 2), (0, 1)))).names == ["rolled"]


def case_counts_wait_once_for_their_length():
    from tenfold.cuda import runtime

    i, w, asked = tenfold.zeros(50, dtype=tenfold.int64, device=DEVICE), array(50), []

    def told(numbers):
        asked.append(numbers.shape)
        return np.array([0, 4])  # which nothing computed here

    runtime.current().to_host = told
    try:
        for call in (lambda: i.bincount(), lambda: i.bincount(w), lambda: tenfold.repeat_interleave(i)):
            stub.settled(call)
            asked.clear()
            quiet(stub.work(call))
            assert asked == [(2,)]
    finally:
        del runtime.current().to_host
