"""Devices of two third parties and the CPU in one process."""

from __future__ import annotations

import copy

import pytest

import tenfold

DEVICES = ("cpu", "ref", "second:0", "second:1")


def tensor(device: str, **options):
    return tenfold.tensor([[1.0, 2.0], [3.0, -4.0]], dtype=tenfold.float64, device=device, **options)


@pytest.mark.parametrize("device", DEVICES)
def test_each_device_computes_and_differentiates(device):
    x = tensor(device, requires_grad=True)
    loss = (x * x + x * 3).sum()
    loss.backward()
    assert loss.item() == 36.0
    assert x.grad.tolist() == [[5.0, 7.0], [9.0, -5.0]]
    assert x.grad.device == loss.device == tenfold.device(device)


@pytest.mark.parametrize("source", DEVICES)
@pytest.mark.parametrize("target", DEVICES)
def test_tensors_move_between_all_devices(source, target):
    x = tensor(source, requires_grad=True)
    moved = x.to(target)
    assert moved.device == tenfold.device(target)
    assert moved.tolist() == x.tolist()
    (moved * moved).sum().backward()
    assert x.grad.device == tenfold.device(source)
    assert x.grad.tolist() == [[2.0, 4.0], [6.0, -8.0]]


@pytest.mark.parametrize("first", DEVICES)
@pytest.mark.parametrize("second", DEVICES)
def test_mixing_devices_names_both(first, second):
    if first == second:
        assert (tensor(first) + tensor(second)).device == tenfold.device(first)
        return
    with pytest.raises(RuntimeError, match=f"add: .* found at least two devices, {first} and {second}!"):
        tensor(first) + tensor(second)


def test_copies_stay_on_their_unit():
    x = tensor("second:1")
    for made in (x.clone(), x.to(tenfold.bool), x.transpose(0, 1).contiguous(), copy.deepcopy(x)):
        assert made.device == tenfold.device("second:1")
        assert made._array.unit == 1


def test_a_unit_that_does_not_exist():
    with pytest.raises(RuntimeError, match=r"device second:2: invalid index, second has 2 device\(s\)"):
        tensor("second:2")


def test_what_has_no_kernel_says_which_devices_have_one():
    message = "operator exp has no kernel for device 'second'; devices that have one: cpu, ref"
    with pytest.raises(NotImplementedError, match=message):
        tensor("second").exp()


def test_a_kernel_for_some_calls_only():
    x = tensor("second")
    assert x.sum().item() == 2.0
    with pytest.raises(NotImplementedError, match="operator sum has no kernel for device 'second' and these arguments"):
        x.sum(0)


def test_views_of_ctypes_memory():
    x = tensor("second")
    x.transpose(0, 1)[0].mul_(10.0)
    assert x.tolist() == [[10.0, 2.0], [30.0, -4.0]]


def test_bare_name_means_the_first_unit():
    assert tensor("second").device == tenfold.device("second:0")
    with tenfold.device("second:1"):
        assert tenfold.zeros(2, dtype=tenfold.float64).device == tenfold.device("second:1")
