"""Functions of several devices, by PyTorch's private names: the CPU stands for every device, as -1 does in PyTorch."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.nn.parallel import comm
from tenfold.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter

CPU = [-1, -1]


def _leaf(*values):
    return tenfold.tensor(values, requires_grad=True)


def test_copies_add_their_gradients():
    a, b = _leaf(1.0, 2.0), _leaf(3.0)
    a1, b1, a2, b2 = Broadcast.apply(CPU, a, b)
    assert a1.tolist() == a2.tolist() == [1, 2]
    assert b1.tolist() == b2.tolist() == [3]
    assert a1 is not a
    (a1.sum() * 2 + (a2 * a2).sum() + b1.sum() * 5 + b2.sum()).backward()
    assert a.grad.tolist() == [4, 6]
    assert b.grad.tolist() == [6]


def test_sums_over_devices_hand_on_their_gradients():
    tensors = [_leaf(1.0), _leaf(2.0, 3.0), _leaf(10.0), _leaf(20.0, 30.0)]
    one, two = ReduceAddCoalesced.apply(-1, 2, *tensors)
    assert one.tolist() == [11]
    assert two.tolist() == [22, 33]
    (one.sum() * 3 + (two * two).sum()).backward()
    assert [t.grad.tolist() for t in tensors] == [[3], [44, 66], [3], [44, 66]]


def test_joining_and_cutting():
    a, b = _leaf(1.0, 2.0, 3.0), _leaf(4.0)
    joined = Gather.apply(-1, 0, a, b)
    parts = Scatter.apply(CPU, [1, 3], 0, joined)
    assert [part.tolist() for part in parts] == [[1], [2, 3, 4]]
    (parts[0].sum() * 7 + (parts[1] ** 2).sum()).backward()
    assert a.grad.tolist() == [7, 4, 6]
    assert b.grad.tolist() == [8]
    numbers = [tenfold.tensor(v, requires_grad=True) for v in (1.0, 2.0)]
    row = Gather.apply(-1, 0, *numbers)
    (row * tenfold.tensor([3.0, 4.0])).sum().backward()
    assert row.tolist() == [1, 2]
    assert [n.grad.item() for n in numbers] == [3, 4]


def test_plain_forms_write_where_they_are_told():
    out = [tenfold.zeros(2), tenfold.zeros(1)]
    assert comm.scatter(tenfold.arange(3.0), out=out)[0] is out[0]
    assert out[1].tolist() == [2]
    assert comm.gather(out, out=tenfold.zeros(3)).tolist() == [0, 1, 2]
    assert comm.broadcast(tenfold.ones(2), out=[out[0]])[0] is out[0]
    with pytest.raises(RuntimeError, match="exactly one of 'devices' and 'out'"):
        comm.broadcast(tenfold.ones(2))
    with pytest.raises(ValueError, match="input 1 has invalid size"):
        comm.reduce_add([tenfold.ones(2), tenfold.ones(3)])
    for refused in (comm.reduce_add, comm.gather):
        with pytest.raises(RuntimeError, match="at least one tensor"):
            refused([])
    with pytest.raises(RuntimeError, match="at least one device"):
        comm.scatter(tenfold.ones(2), [])
    with pytest.raises(RuntimeError, match="expected 2 chunk sizes"):
        comm.scatter(tenfold.ones(6), CPU, [6])
    with pytest.raises(RuntimeError, match="must not be specified"):
        comm.gather(out, destination=-1, out=out[0])
