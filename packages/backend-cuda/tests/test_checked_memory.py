"""What `--check-memory` finds in kernels with a fault each; and a few of the backend's own, where programs share memory."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("triton")

import broken_kernels as broken
import checked_memory

import tenfold
from tenfold.cuda import availability, runtime
from tenfold.cuda.kernels import multi_tensor
from tenfold.nn import functional as F

pytestmark = pytest.mark.skipif(availability.probe()[0] > 0, reason="a process that compiles does not interpret")
N, BLOCK = 40, 16


def findings(written, out=None, x=None, programs=3, more=N):
    with checked_memory.checked() as found:
        now = runtime.current()
        out = now.empty((N,), np.float32, 0) if out is None else out
        x = np.arange(N, dtype=np.float32) if x is None else x
        now.start(broken.Kernel(written), (programs,), (out, x, more), 0)
    return {(f.kind, f.argument) for f in found}, found


@pytest.mark.parametrize(
    ("written", "kind", "argument"),
    [
        (broken.copied_too_far, "outside", "out_ptr"),
        (broken.read_too_early, "outside", "x_ptr"),
        (broken.copied_overlapping, "programs", "out_ptr"),
        (broken.same_everywhere, "programs", "out_ptr"),
        (broken.carried, "programs", "out_ptr"),
        (broken.turned, "threads", "out_ptr"),
        (broken.moved, "threads", "x_ptr"),
        (broken.both_to_one, "lanes", "out_ptr"),
        (broken.added_to, "unwritten", "out_ptr"),
    ],
)
def test_a_fault_is_found(written, kind, argument):
    whole = written in (broken.turned, broken.moved, broken.both_to_one)
    x = np.arange(BLOCK, dtype=np.float32) if whole else None
    more = BLOCK if whole else N
    assert findings(written, None, x, 1 if whole else 3, more)[0] == {(kind, argument)}


@pytest.mark.parametrize("written", [broken.copied, broken.same_and_said, broken.turned_after_all])
def test_a_right_kernel_has_none(written):
    assert findings(written, programs=1 if written is broken.turned_after_all else 3)[0] == set()


def test_an_atomic_operation_and_a_store_to_one_place():
    kinds, found = findings(broken.counted, np.zeros(N, np.float32))
    assert kinds == {("programs", "out_ptr")}
    assert "an atomic operation of another program" in found[0].what


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (broken.summed_by_the_last, set()),
        (broken.summed_relaxed, {("programs", "x_ptr")}),
        (broken.summed_without_a_barrier, {("programs", "x_ptr"), ("threads", "x_ptr")}),
    ],
)
def test_the_last_program_knows_what_the_others_have_written(written, expected):
    done = np.zeros(1, np.int32)
    assert findings(written, x=np.zeros(N, np.float32), more=done)[0] == expected


def test_a_finding_says_where():
    found = findings(broken.copied_too_far)[1][0]
    assert "outside: copied_too_far, argument out_ptr, program (2, 0, 0): a store outside of its 40 elements (1 lanes)" in str(
        found
    )
    assert "element 40 of float32[40]" in str(found)
    assert "broken_kernels.py:" in str(found)
    assert "i <= count)" in str(found)


def test_what_lies_between_a_views_elements_is_not_its_own():
    x = np.arange(N, dtype=np.float32)
    rows = np.zeros((5, 12), np.float32)
    assert findings(broken.copied, rows[:, :8], x)[0] == {("between", "out_ptr")}
    assert findings(broken.copied, rows.reshape(-1)[10:50], x)[0] == set()
    assert findings(broken.copied, rows.reshape(-1)[:39], x)[0] == {("outside", "out_ptr")}


@pytest.mark.parametrize(("more", "expected"), [(0, set()), (1, {("outside", "an address from memory")})])
def test_addresses_in_a_table(more, expected):
    with checked_memory.checked() as found:
        now = runtime.current()
        arrays = [np.ones(n, np.float32) for n in (5, 8)]
        table, pieces = multi_tensor.table_of(now, [multi_tensor.Entry([a]) for a in arrays], 0)
        now.start(broken.Kernel(broken.filled_by_address), (pieces,), (table, more), 0)
    assert {(f.kind, f.argument) for f in found} == expected
    assert not np.concatenate(arrays).any()


def trained(parameters):
    optimizer = tenfold.optim.AdamW(parameters, foreach=False, fused=True)
    for p in parameters:
        p.grad = p.detach() * 2
    tenfold.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()


def with_gradients(function, *shapes):
    given = [drawn(*shape).requires_grad_() for shape in shapes]
    function(*given).square().sum().backward()


def drawn(*shape):
    return tenfold.tensor(np.random.default_rng(3).standard_normal(shape)).float().cuda()


def indices(*shape, end):
    return tenfold.tensor(np.random.default_rng(3).integers(0, end, shape)).cuda()


# Where programs share memory: parts of a line or a sum, places that several write, counters, tables of addresses.
FAMILIES = {
    "scan in parts": lambda: drawn(2, 20000).cumsum(1),
    "sum in parts": lambda: (drawn(2, 30000).var(1), drawn(2, 30000).max(1)),
    "selection": lambda: (drawn(2, 9000).topk(5, 1), drawn(1, 9000).sort(1)),
    "scattering": lambda: drawn(40, 8).scatter_add(0, indices(90, 8, end=40), drawn(90, 8)),
    "places": lambda: drawn(40, 8).index_put((indices(90, end=40),), drawn(90, 8), accumulate=True),
    "runs": lambda: indices(2500, end=99).unique(return_inverse=True, return_counts=True),
    "attention": lambda: with_gradients(F.scaled_dot_product_attention, *[(1, 1, 70, 16)] * 3),
    "few queries": lambda: F.scaled_dot_product_attention(drawn(1, 2, 1, 16), drawn(1, 2, 900, 16), drawn(1, 2, 900, 16)),
    "group norm": lambda: with_gradients(lambda x, w, b: F.group_norm(x, 4, w, b), (2, 8, 30, 30), (8,), (8,)),
    "layer norm": lambda: with_gradients(lambda x, w, b: F.layer_norm(x, (64,), w, b), (300, 64), (64,), (64,)),
    "cross entropy": lambda: with_gradients(lambda x: F.cross_entropy(x, indices(300, end=9)), (300, 9)),
    "convolution": lambda: with_gradients(lambda x, w: F.conv2d(x, w, padding=1), (2, 3, 20, 20), (4, 3, 3, 3)),
    "many tensors": lambda: trained([tenfold.nn.Parameter(drawn(n)) for n in (5, 3000)]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_have_none(name):
    with checked_memory.checked() as found:
        FAMILIES[name]()
    assert not found, "\n".join(map(str, found))
