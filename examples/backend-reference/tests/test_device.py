"""The device against the CPU: values, views, writes, transfer, errors."""

from __future__ import annotations

import numpy as np
import pytest
from tenfold_reference import Block

import tenfold

DTYPES = [tenfold.float32, tenfold.float64, tenfold.int64, tenfold.bool]


def both(data, dtype=tenfold.float32):
    return tenfold.tensor(data, dtype=dtype), tenfold.tensor(data, dtype=dtype, device="ref")


def assert_same(on_cpu, on_ref):
    assert on_ref.device.type == "ref"
    assert on_ref.dtype is on_cpu.dtype
    assert on_ref.stride() == on_cpu.stride()
    np.testing.assert_array_equal(on_ref.cpu().numpy(), on_cpu.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_transfer_keeps_every_value(dtype):
    on_cpu, on_ref = both([[0, 1, 2], [3, 4, 5]], dtype)
    assert_same(on_cpu, on_ref)
    assert type(on_ref._array) is Block
    assert type(on_ref._array.memory) is bytearray


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.transpose(0, 1),
        lambda x: x[1:, ::2] if x.device.type == "cpu" else x.as_strided((1, 2), (3, 2), 3),
        lambda x: x.view(3, 2).permute(1, 0),
        lambda x: x.unsqueeze(1).expand(2, 4, 3),
        lambda x: x.detach().reshape(-1),
    ],
)
def test_views_share_memory(view):
    on_cpu, on_ref = both([[0.0, 1, 2], [3, 4, 5]])
    assert_same(view(on_cpu), view(on_ref))
    assert view(on_ref)._array.memory is on_ref._array.memory


def test_writing_through_a_view_shows_in_the_base():
    base = tenfold.zeros(2, 3, device="ref")
    base.transpose(0, 1).add_(tenfold.tensor([[1.0], [2.0], [3.0]], device="ref"))
    assert base.tolist() == [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]


def test_integers_wrap_around():
    on_cpu, on_ref = both([2**62, -5], tenfold.int64)
    assert_same(on_cpu * 4, on_ref * 4)


def test_float32_is_rounded_once():
    on_cpu, on_ref = both(np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32))
    assert_same((on_cpu * 0.1 + on_cpu) / 3, (on_ref * 0.1 + on_ref) / 3)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "neg"])
def test_special_values(name):
    data = [0.0, -0.0, 1.0, -1.0, 1e30, -1e30, float("inf"), float("-inf"), float("nan")]
    on_cpu, on_ref = both(data, tenfold.float64)
    np.testing.assert_allclose(getattr(on_ref, name)().cpu().numpy(), getattr(on_cpu, name)().numpy(), rtol=1e-14)


def test_a_missing_dtype_is_named():
    with pytest.raises(TypeError, match="device 'ref' has no dtype float16; it has float32, float64"):
        tenfold.zeros(2, dtype=tenfold.float16, device="ref")
    with pytest.raises(TypeError, match="device 'ref' has no dtype float16; it has float32, float64"):
        tenfold.zeros(2, dtype=tenfold.float16).to("ref")


def test_errors_are_those_of_the_operator():
    x = tenfold.zeros(2, 3, device="ref")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        x.mm(x)
    with pytest.raises(RuntimeError, match="two devices, ref and cpu"):
        x + tenfold.zeros(2, 3)


def test_doctor_and_cards_show_the_device(capsys):
    from tenfold.__main__ import main

    assert main(["doctor"]) == 0
    assert "ref      from ref (tenfold-backend-reference 0.1.0): available" in capsys.readouterr().out
    assert main(["op", "mm"]) == 0
    assert "kernel    ref: " in capsys.readouterr().out
