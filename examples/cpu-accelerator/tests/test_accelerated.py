"""Every accelerated operator on both sides of its condition: values, special values, layouts, gradients."""

from __future__ import annotations

import numpy as np
import pytest
from tenfold_cpu_accelerator import compiler, functions, loops

import tenfold
from tenfold.dispatch.kernels import KERNELS

CALLS = {
    "exp": [()],
    "sigmoid": [()],
    "gelu": [("none",), ("tanh",)],
    "softmax": [(-1,), (1,)],
    "log_softmax": [(-1,), (1,)],
}
CASES = [(name, arguments) for name, forms in CALLS.items() for arguments in forms]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 88.7, 89.0, -87.5, -103.0, -110.0, 1e30, -1e30, 1e-30, np.inf, -np.inf, np.nan]
SHAPES = [(1024, 96), (256, 257), (1, 65536), (70000, 1)]


def entries(name):
    """The kernels that serve an operator: (the accelerator's, the one without a condition)."""
    operator = getattr(tenfold.op, name)
    operator(tenfold.zeros(2, 2), *CALLS[name][0])  # kernels are loaded with the first call
    attached = KERNELS[name, "cpu"]
    return next(k for k in attached if k.when is not None), next(k for k in attached if k.when is None)


def reference(name, x, arguments):
    """The operator's NumPy kernel in float64."""
    operator = getattr(tenfold.op, name)
    return operator(tenfold.tensor(x.astype(np.float64)), *arguments).numpy()


def numbers(shape, scale=4.0):
    return (np.random.default_rng(0).standard_normal(shape) * scale).astype(np.float32)


@pytest.mark.parametrize(("name", "arguments"), CASES)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_agree_with_float64(name, arguments, shape):
    x = numbers(shape)
    operator = getattr(tenfold.op, name)
    got = operator(tenfold.tensor(x), *arguments)
    assert got.dtype is tenfold.float32
    np.testing.assert_allclose(got.numpy(), reference(name, x, arguments), rtol=2e-6, atol=5e-7)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_special_values_are_those_of_the_plain_kernel(name, arguments):
    fast, plain = entries(name)
    rows = np.array([np.roll(SPECIAL, i) for i in range(len(SPECIAL))], np.float32)
    x = np.repeat(rows, 65536 // rows.size + 1, axis=0)
    assert fast.when(x, *arguments)
    with np.errstate(all="ignore"):
        expected = plain.function(x, *arguments)
    np.testing.assert_allclose(fast.function(x, *arguments), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_condition_leaves_the_rest_to_the_plain_kernel(name, arguments):
    fast, _ = entries(name)
    x = numbers((512, 256))
    assert fast.when(x, *arguments)
    for other in (x[:2], x.T, x[:, ::2], x.astype(np.float64), x.astype(np.float16), x[:0]):
        assert not fast.when(other, *arguments)
        got = getattr(tenfold.op, name)(tenfold.from_numpy(np.ascontiguousarray(other)), *arguments)
        assert got.shape == other.shape


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_other_dimensions_go_to_the_plain_kernel(name):
    fast, _ = entries(name)
    x = numbers((512, 256))
    assert not fast.when(x, 0)
    np.testing.assert_allclose(
        getattr(tenfold.op, name)(tenfold.tensor(x), 0).numpy(), reference(name, x, (0,)), rtol=1e-4, atol=5e-6
    )


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_inputs_stay_as_they_are(name, arguments):
    x = numbers((512, 256))
    before = x.copy()
    getattr(tenfold.op, name)(tenfold.from_numpy(x), *arguments)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_gradient_is_the_operators_own(name, arguments):
    x = numbers((512, 256), 1.0)
    weights = numbers((512, 256), 1.0)
    found = []
    for dtype in (tenfold.float32, tenfold.float64):
        leaf = tenfold.tensor(x, dtype=dtype, requires_grad=True)
        (getattr(tenfold.op, name)(leaf, *arguments) * tenfold.tensor(weights, dtype=dtype)).sum().backward()
        found.append(leaf.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


def test_machine_code_is_kept_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("TENFOLD_HOME", str(tmp_path))
    compiler.compile_loop(loops.ELEMENTWISE, functions.exp)
    (kept,) = (tmp_path / "cpu-accelerator").iterdir()
    monkeypatch.setattr(compiler, "_compile", lambda text, target: pytest.fail("compiled again"))
    again = compiler.compile_loop(loops.ELEMENTWISE, functions.exp)
    x, out = np.ones(8, np.float32), np.empty(8, np.float32)
    again(x.ctypes.data, out.ctypes.data, 8, 0)
    np.testing.assert_allclose(out, np.full(8, np.e, np.float32), rtol=1e-6)
    assert kept.suffix == ".o"


def test_a_home_that_cannot_be_written_is_no_obstacle(monkeypatch, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("TENFOLD_HOME", str(occupied))
    loop = compiler.compile_loop(loops.ELEMENTWISE, functions.sigmoid)
    x, out = np.zeros(8, np.float32), np.empty(8, np.float32)
    loop(x.ctypes.data, out.ctypes.data, 8, 0)
    np.testing.assert_array_equal(out, np.full(8, 0.5, np.float32))


def test_the_card_shows_the_choice(capsys):
    from tenfold.__main__ import main

    assert main(["op", "gelu"]) == 0
    shown = capsys.readouterr().out
    assert "when contiguous float32 of at least 4096 elements (from cpu-accelerator" in shown
    assert shown.count("kernel    cpu:") == 2
