"""NaN and infinite weights reach the pixels that windows read, and no others: gradients of images, transposed convolutions."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS: dict[str, dict[str, Any]] = {
    "padding": {"padding": 1},
    "a stride that leaves pixels out": {"stride": 2},
    "stride and padding": {"stride": 2, "padding": 1},
    "dilation": {"padding": 2, "dilation": 2},
    "groups": {"padding": 1, "groups": 2},
    "each channel by itself": {"padding": 1, "groups": 4},
}


def image(t: Any, dims: int, dtype: str) -> Any:
    return (t.arange(4.0 * 6**dims) % 5 - 2).reshape(1, 4, *(6,) * dims).to(getattr(t, dtype))


def weight(t: Any, dims: int, dtype: str, groups: int, value: float) -> Any:
    numbers = t.arange(4.0 * 4 // groups * 3**dims) % 3 + 1
    numbers[0] = value
    return numbers.reshape(4, 4 // groups, *(3,) * dims).to(getattr(t, dtype))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("transposed", [False, True])
def test_pixels_that_no_tap_reads(transposed: bool, call: str, dims: int, dtype: str, value: float) -> None:
    results = []
    # PyTorch's products of bfloat16 write NaN into some pixels that its products of float32 leave alone.
    for t, held in ((tenfold, dtype), (torch, "float32" if dtype == "bfloat16" else dtype)):
        x, w = image(t, dims, held), weight(t, dims, held, CALLS[call].get("groups", 1), value)
        if transposed:
            y = getattr(t.nn.functional, f"conv_transpose{dims}d")(x, w, **CALLS[call])
        else:
            x.requires_grad_()
            y = getattr(t.nn.functional, f"conv{dims}d")(x, w, **CALLS[call])
            y.backward(t.ones_like(y))
            y = x.grad
        results.append(y.float())
    mine, theirs = torch.from_numpy(results[0].numpy()), results[1]
    torch.testing.assert_close(mine, theirs, equal_nan=True, rtol=1e-2 if dtype == "bfloat16" else 1e-3, atol=0)
