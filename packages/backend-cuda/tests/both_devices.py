"""The same call on the CPU and on the device, and the comparison of what came of it."""

from __future__ import annotations

import numpy as np

import tenfold
from tenfold.testing.tolerances import implementation


def drawn(shape, dtype=tenfold.float32, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def assert_close(got, expected, scale=1.0, words=""):
    rtol, atol = implementation(expected.dtype)
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype, words
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol, equal_nan=True, err_msg=str(words))


def both(function, *tensors):
    """The result and the gradients of a function on the CPU and on the device."""
    found = []
    for device in ("cpu", "cuda"):
        given = [t.to(device).detach().requires_grad_() for t in tensors]
        result = function(*given)
        result.backward(drawn(tuple(result.shape), result.dtype, 9).to(device))
        found.append([result, *[t.grad for t in given]])
    return zip(*found, strict=True)
