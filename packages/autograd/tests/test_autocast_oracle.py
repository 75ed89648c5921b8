"""Autocast on the CPU against torch.autocast: dtypes and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

X = np.linspace(0.1, 0.9, 16, dtype=np.float32).reshape(4, 4)
CALLS = {
    "mm": lambda m, x, h: m.mm(x, x),
    "matmul of a vector": lambda m, x, h: x @ x[0],
    "bmm": lambda m, x, h: m.bmm(x[None], x[None]),
    "addmm": lambda m, x, h: m.addmm(x, x, x),
    "mv": lambda m, x, h: m.mv(x, x[0]),
    "dot": lambda m, x, h: m.dot(x[0], x[0]),
    "outer": lambda m, x, h: m.outer(x[0], x[0]),
    "add": lambda m, x, h: h + x,
    "mul": lambda m, x, h: h * h,
    "exp": lambda m, x, h: m.exp(h),
    "log": lambda m, x, h: m.log(h),
    "pow": lambda m, x, h: h**2,
    "sum": lambda m, x, h: h.sum(),
    "mean": lambda m, x, h: h.mean(1),
    "prod": lambda m, x, h: h.prod(),
    "softmax": lambda m, x, h: m.softmax(h, 1),
    "relu": lambda m, x, h: m.relu(h),
    "sigmoid": lambda m, x, h: m.sigmoid(h),
    "where": lambda m, x, h: m.where(x > 0.5, h, h),
    "chain": lambda m, x, h: (x @ x).relu() @ x + x,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_dtypes_and_numbers(name, dtype):
    results = []
    for library in (torch, tenfold):
        x = library.tensor(X)
        half = x.to(getattr(library, dtype))
        with library.autocast("cpu", dtype=getattr(library, dtype)):
            results.append(CALLS[name](library, x, half))
    expected, got = results
    assert str(got.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    step = 2.0**-7 if "bfloat16" in str(expected.dtype) else 2.0**-10 if "float16" in str(expected.dtype) else 2e-6
    np.testing.assert_allclose(got.float().numpy(), expected.float().numpy(), rtol=step)


def test_gradients():
    grads = []
    for library in (torch, tenfold):
        w = library.tensor(X, requires_grad=True)
        with library.autocast("cpu", dtype=library.bfloat16):
            loss = ((library.tensor(X) @ w).relu() @ w).float().sum()
        loss.backward()
        grads.append(w.grad)
    assert str(grads[1].dtype) == "tenfold.float32"
    np.testing.assert_allclose(grads[1].numpy(), grads[0].numpy(), rtol=2.0**-6)


def test_of_what_is_no_kind_of_device_nobody_knows_whether_it_casts():
    for m in (torch, tenfold):
        assert m.amp.is_autocast_available("cpu")
        with pytest.raises(RuntimeError, match="Expected one of cpu"):
            m.amp.is_autocast_available("device")
