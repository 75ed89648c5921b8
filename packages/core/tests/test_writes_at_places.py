"""Writes at places go into the tensor itself: what they take does not grow with it."""

from __future__ import annotations

import tracemalloc

import pytest

import tenfold

SIZE = 1 << 20
WRITES = {
    "index_add_": lambda x, at, given: x.index_add_(0, at, given),
    "index_add_ with alpha": lambda x, at, given: x.index_add_(0, at, given, alpha=2),
    "index_copy_": lambda x, at, given: x.index_copy_(0, at, given),
    "index_put_": lambda x, at, given: x.index_put_((at,), given, accumulate=True),
    "scatter_": lambda x, at, given: x.scatter_(0, at, given),
    "scatter_ of a number": lambda x, at, given: x.scatter_(0, at, 7.5),
    "scatter_add_": lambda x, at, given: x.scatter_add_(0, at, given),
    "scatter_ that adds": lambda x, at, given: x.scatter_(0, at, given, reduce="add"),
    "scatter_reduce_": lambda x, at, given: x.scatter_reduce_(0, at, given, "amax"),
    "index_fill_": lambda x, at, given: x.index_fill_(0, at, 3),
    "index_reduce_": lambda x, at, given: x.index_reduce_(0, at, given, "amax"),
    "put_": lambda x, at, given: x.put_(at, given),
    "fill_diagonal_": lambda x, at, given: x.view(1 << 10, -1).fill_diagonal_(4),
}
RARE = ("index_fill_", "index_reduce_", "put_", "fill_diagonal_")


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_a_write_copies_nothing_of_the_tensor(name):
    if name in RARE:
        pytest.importorskip("tenfold.scientific")
    write, base = WRITES[name], tenfold.zeros(SIZE)
    at, given = tenfold.tensor([SIZE - 1, 0]), tenfold.tensor([1.0, 2.0])
    write(base[:1024], at % 1024, given)  # what loads with the first call
    base.zero_()
    before = base.clone()
    version = base._version
    tracemalloc.start()
    try:
        write(base, at, given)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < SIZE // 8, most
    assert base._version == version + 1
    assert not base.equal(before)


@pytest.mark.parametrize("dtype", [tenfold.bool, tenfold.uint8, tenfold.float16, tenfold.bfloat16], ids=str)
def test_a_number_in_a_mask_copies_nothing(dtype):
    """As samplers mark what they keep."""
    mask, at = tenfold.zeros(SIZE, dtype=dtype), tenfold.tensor([SIZE - 1, 0])
    mask.scatter_(0, at, True)
    mask.zero_()
    tracemalloc.start()
    try:
        mask.scatter_(0, at, True)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < SIZE // 8, most
    assert mask.nonzero().flatten().tolist() == [0, SIZE - 1]


@pytest.mark.parametrize("name", ["index_add_", "index_copy_", "scatter_", "scatter_reduce_"])
def test_what_gradients_need_is_kept(name):
    """A write to a tensor in a graph, or of one, is recorded as before."""
    pytest.importorskip("tenfold.autograd")
    x, given = tenfold.arange(4.0).requires_grad_(), tenfold.tensor([5.0]).requires_grad_()
    y = x * 2
    written = WRITES[name](y, tenfold.tensor([1]), given)
    assert written is y
    (y * tenfold.arange(1.0, 5.0)).sum().backward()
    kept = {"index_add_": 4.0, "index_copy_": 0.0, "scatter_": 0.0, "scatter_reduce_": 0.0}[name]
    assert x.grad.tolist() == [2.0, kept, 6.0, 8.0]
    assert given.grad.tolist() == [2.0]
