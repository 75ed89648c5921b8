"""Losses and units of tensors of two dtypes against PyTorch: which are refused, and the dtype and value of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"]
LOSSES = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "soft_margin_loss", "mse_loss", "l1_loss", "smooth_l1_loss",
    "huber_loss", "kl_div", "poisson_nll_loss",
]  # fmt: skip


def outcome(lib: Any, call: Any) -> tuple[str, Any]:
    """The dtype and the numbers of a call, or that it is refused."""
    try:
        result = call(lib)
    except RuntimeError:  # of which NotImplementedError is one
        return "refused", None
    wide = result.to(lib.complex128 if result.is_complex() else lib.float64)
    return str(result.dtype).split(".")[-1], np.array(wide.tolist())


def agree(call: Any) -> None:
    (ours, x), (theirs, y) = outcome(tenfold, call), outcome(torch, call)
    assert ours == theirs
    if y is not None:
        half = theirs in ("float16", "bfloat16")
        np.testing.assert_allclose(x, y, rtol=2e-2 if half else 1e-3, atol=1e-2 if half else 1e-6)


def numbers(lib: Any, dtype: str) -> Any:
    return lib.tensor([1, 0, 1], dtype=getattr(lib, dtype))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", DTYPES)
@pytest.mark.parametrize("name", LOSSES)
def test_targets_of_another_dtype(name: str, given: str) -> None:
    for target in DTYPES:
        for way in ("none", "mean"):
            agree(lambda lib, target=target, way=way: getattr(lib.nn.functional, name)(
                numbers(lib, given), numbers(lib, target), reduction=way
            ))  # fmt: skip


@pytest.mark.parametrize("weight", ["float64", "float16", "int64"])
@pytest.mark.parametrize("given", ["float32", "float16"])
def test_weights_leave_the_dtype(given: str, weight: str) -> None:
    for name, key in [
        ("binary_cross_entropy", "weight"),
        ("binary_cross_entropy_with_logits", "weight"),
        ("binary_cross_entropy_with_logits", "pos_weight"),
    ]:
        agree(lambda lib, name=name, key=key: getattr(lib.nn.functional, name)(
            numbers(lib, given), numbers(lib, given), reduction="none", **{key: numbers(lib, weight)}
        ))  # fmt: skip


@pytest.mark.parametrize("weight", DTYPES)
@pytest.mark.parametrize("given", ["float32", "float64", "float16", "int64"])
def test_prelu_promotes_nothing(given: str, weight: str) -> None:
    agree(lambda lib: lib.nn.functional.prelu(numbers(lib, given) - numbers(lib, "uint8"), numbers(lib, weight)[:1]))


def test_whole_margins_and_variances() -> None:
    agree(lambda lib: lib.nn.functional.margin_ranking_loss(*[numbers(lib, "int64")] * 3))
    agree(lambda lib: lib.nn.functional.gaussian_nll_loss(*[numbers(lib, "int64")] * 2, numbers(lib, "int64") + 1))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        F.soft_margin_loss(tenfold.tensor(1.0), tenfold.ones(3), reduction="none")


@pytest.mark.parametrize("bias", [(), (1, 1), (2,), (1, 4)])
@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d"])
def test_a_bias_has_one_number_for_each_channel(name: str, bias: tuple[int, ...]) -> None:
    n = int(name[-2])
    with pytest.raises(RuntimeError, match="expected bias to be 1-dimensional with 4 elements"):
        getattr(F, name)(tenfold.ones(1, 4, *[3] * n), tenfold.ones(4, 4, *[2] * n), tenfold.ones(bias))


OUTPUTS: dict[str, Any] = {
    "gelu": lambda lib, **out: lib.nn.functional.gelu(lib.arange(3.0), **out),
    "hardshrink": lambda lib, **out: lib.nn.functional.hardshrink(lib.arange(3.0), 1.5, **out),
    "linear": lambda lib, **out: lib.nn.functional.linear(lib.arange(6.0).view(2, 3), lib.ones(4, 3), lib.ones(4), **out),
    "avg_pool2d": lambda lib, **out: lib.nn.functional.avg_pool2d(lib.arange(16.0).view(1, 4, 4), 2, **out),
    "avg_pool3d": lambda lib, **out: lib.nn.functional.avg_pool3d(lib.arange(64.0).view(1, 4, 4, 4), 2, **out),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_into_an_output(name: str, dtype: str) -> None:
    shape = tuple(OUTPUTS[name](tenfold).shape)

    def call(lib: Any) -> Any:
        out = lib.zeros(shape, dtype=getattr(lib, dtype))
        assert OUTPUTS[name](lib, out=out) is out
        return out

    agree(call)


def test_no_output_of_what_requires_gradients() -> None:
    pytest.importorskip("tenfold.autograd")
    x = tenfold.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        F.gelu(x, out=tenfold.zeros(3))
