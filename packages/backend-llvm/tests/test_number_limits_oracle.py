"""Numbers that a dtype does not hold, beside arrays that compiled kernels serve: refused or infinite as PyTorch has it."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "masked_fill": lambda lib, x, n: x.masked_fill(x > 0, n),
    "masked_fill_": lambda lib, x, n: x.masked_fill_(x > 0, n),
    "clamp": lambda lib, x, n: x.clamp(-1, n),
    "clamp_": lambda lib, x, n: x.clamp_(-1, n),
    "transposed clamp": lambda lib, x, n: x.T.clamp(-1, n),
    "strided clamp": lambda lib, x, n: x[:, ::2].clamp(-1, n),
    "where": lambda lib, x, n: lib.where(x > 0, x, n),
    "where of a number first": lambda lib, x, n: lib.where(x > 0, n, x),
    "addcmul": lambda lib, x, n: lib.addcmul(x, x, x, value=n),
    "addcdiv": lambda lib, x, n: lib.addcdiv(x, x, x, value=n),
    "addcmul_": lambda lib, x, n: x.addcmul_(x.clone(), x.clone(), value=n),
    "add": lambda lib, x, n: x.add(x, alpha=n),
    "add_": lambda lib, x, n: x.add_(x.clone(), alpha=n),
    "sub": lambda lib, x, n: x.sub(x, alpha=n),
    "threshold": lambda lib, x, n: lib.nn.functional.threshold(x, 0.5, n),
    "a limit of threshold": lambda lib, x, n: lib.nn.functional.threshold(x, n, 1),
    "leaky_relu": lambda lib, x, n: lib.nn.functional.leaky_relu(x, n),
    "elu": lambda lib, x, n: lib.nn.functional.elu(x, n),
    "celu": lambda lib, x, n: lib.nn.functional.celu(x, n),
    "celu of little": lambda lib, x, n: lib.nn.functional.celu(x, 1 / n),
    "softplus": lambda lib, x, n: lib.nn.functional.softplus(x, n),
    "softplus_threshold": lambda lib, x, n: lib.nn.functional.softplus(x, 1.0, n),
    "hardshrink": lambda lib, x, n: lib.nn.functional.hardshrink(x, n),
    "lerp": lambda lib, x, n: x.lerp(x * 2, n),
    "lerp_": lambda lib, x, n: x.lerp_(x * 2, n),
    "hardtanh": lambda lib, x, n: lib.nn.functional.hardtanh(x, -1.0, n),
    "nan_to_num": lambda lib, x, n: lib.nan_to_num(x / 0, n, n, -1),
    "huber_loss": lambda lib, x, n: lib.nn.functional.huber_loss(x, x * 2, delta=abs(n)),
}
NUMBERS = (3.0, -1, 1e9, 70000.0, 65504.0, 2**40, 1e39, -1e39, float("inf"), float("-inf"))


def outcome(lib: Any, call: Any, dtype: str, number: Any) -> Any:
    x = (lib.arange(-2560, 2560).reshape(64, 80) / 512).to(getattr(lib, dtype))
    try:
        return call(lib, x, number).double().tolist()
    except (RuntimeError, OverflowError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_numbers_beyond_a_dtype(name: str, dtype: str) -> None:
    for number in NUMBERS:
        ours, theirs = (outcome(lib, CALLS[name], dtype, number) for lib in (tenfold, torch))
        if isinstance(theirs, type):
            assert ours is theirs, number
        else:
            close = torch.testing.assert_close
            rough = {"rtol": 1e-2, "atol": 1e-2} if "16" in dtype else {"rtol": 1e-5, "atol": 1e-5}
            close(torch.tensor(ours), torch.tensor(theirs), equal_nan=True, **rough)
