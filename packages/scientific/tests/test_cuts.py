"""Parts of tensors that stand for themselves: written in place, with the gradients of parts that are not."""

import pytest

import tenfold

CUTS = {
    "unsafe_split": lambda x: x.unsafe_split(1),
    "unsafe_split_with_sizes": lambda x: x.unsafe_split_with_sizes((1, 1, 1)),
    "unsafe_chunk": lambda x: x.unsafe_chunk(3),
}


@pytest.mark.parametrize("name", CUTS)
def test_parts_are_written_in_place(name):
    a = tenfold.arange(9.0).reshape(3, 3).requires_grad_()
    first, second, third = CUTS[name](a + a)
    assert not first._is_view()
    first.mul_(second)
    first.sum().backward()
    x = a.detach()
    assert first.tolist() == (2 * x[:1] * 2 * x[1:2]).tolist()
    assert a.grad.tolist() == [(4 * x[1]).tolist(), (4 * x[0]).tolist(), [0, 0, 0]]
    assert third.tolist() == [(2 * x[2]).tolist()]


def test_a_narrow_copy_has_memory_of_its_own():
    x = tenfold.arange(6).reshape(2, 3)
    copied = x.narrow_copy(1, 1, 2)
    copied.zero_()
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    out = tenfold.empty(2, 1, dtype=tenfold.int64)
    assert tenfold.narrow_copy(x, 1, 2, 1, out=out) is out
    assert out.tolist() == [[2], [5]]
    assert x.narrow_copy(-1, tenfold.tensor(1), 2).is_contiguous()
