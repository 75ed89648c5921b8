"""Activations against PyTorch at the points where formulas break: zeros of both signs, infinities, NaN, kinks, huge and tiny."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tenfold as tf
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional
inf, nan = float("inf"), float("nan")

ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda F, x: F.relu(x),
    "relu6": lambda F, x: F.relu6(x),
    "hardtanh": lambda F, x: F.hardtanh(x),
    "hardtanh of a range": lambda F, x: F.hardtanh(x, -2, 0.5),
    "hardsigmoid": lambda F, x: F.hardsigmoid(x),
    "hardswish": lambda F, x: F.hardswish(x),
    "elu": lambda F, x: F.elu(x),
    "elu with alpha": lambda F, x: F.elu(x, 2.5),
    "selu": lambda F, x: F.selu(x),
    "celu": lambda F, x: F.celu(x),
    "celu with alpha": lambda F, x: F.celu(x, 0.5),
    "leaky_relu": lambda F, x: F.leaky_relu(x, 0.2),
    "leaky_relu, falling": lambda F, x: F.leaky_relu(x, -0.2),
    "gelu": lambda F, x: F.gelu(x),
    "gelu by tanh": lambda F, x: F.gelu(x, approximate="tanh"),
    "silu": lambda F, x: F.silu(x),
    "mish": lambda F, x: F.mish(x),
    "softplus": lambda F, x: F.softplus(x),
    "softplus with beta": lambda F, x: F.softplus(x, 2, 3),
    "softsign": lambda F, x: F.softsign(x),
    "tanhshrink": lambda F, x: F.tanhshrink(x),
    "hardshrink": lambda F, x: F.hardshrink(x),
    "softshrink": lambda F, x: F.softshrink(x),
    "logsigmoid": lambda F, x: F.logsigmoid(x),
    "sigmoid": lambda F, x: F.sigmoid(x),
    "tanh": lambda F, x: F.tanh(x),
    "threshold": lambda F, x: F.threshold(x, 0.5, 7.0),
    "rrelu": lambda F, x: F.rrelu(x),
    "glu": lambda F, x: F.glu(x, 0),
    "softmax": lambda F, x: F.softmax(x[:16].reshape(-1, 2), 1),
    "softmin": lambda F, x: F.softmin(x[:16].reshape(-1, 2), 1),
    "log_softmax": lambda F, x: F.log_softmax(x[:16].reshape(-1, 2), 1),
}
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0, 1.5, 20.0, 20.5, -20.0, 100.0, -100.0, 1e4, -1e4]
BEYOND = [1e-30, -1e-30, 1e30, -1e30]
SPECIAL = [inf, -inf, nan, nan]


def points(dtype: str) -> Any:
    wide = [] if dtype == "float16" else BEYOND
    return torch.tensor([*POINTS, *wide, *SPECIAL], dtype=torch.float64).to(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_points(name: str, dtype: str, agree: Any) -> None:
    x = points(dtype)
    if name == "gelu" and dtype != "float64":
        x = x[~x.isinf()]  # PyTorch's gelu(inf) is nan but in float64
    x = x.requires_grad_()
    tolerance = 1e-6 if name == "hardsigmoid" and dtype == "float64" else None  # PyTorch's 1 / 6 is a float32
    agree(lambda x: ACTIVATIONS[name](F, x), lambda x: ACTIVATIONS[name](TF, x), x, tolerance=tolerance)


LAYOUTS: dict[str, Callable[[], Any]] = {
    "empty": lambda: torch.empty(0, 2),
    "0-d": lambda: torch.tensor(-0.3),
    "strided": lambda: torch.linspace(-4, 4, 48).reshape(4, 12)[::2, ::3],
    "permuted": lambda: torch.linspace(-4, 4, 24).reshape(2, 3, 4).permute(2, 0, 1),
    "expanded": lambda: torch.linspace(-4, 4, 6).reshape(6, 1).expand(6, 4),
    "large": lambda: torch.linspace(-8, 8, 120_000),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [n for n in ACTIVATIONS if "soft" not in n or n.startswith(("softplus", "softs"))])
def test_layouts(name: str, layout: str, agree: Any) -> None:
    if name == "glu" and layout in ("0-d", "strided"):
        layout = "large"
    agree(lambda x: ACTIVATIONS[name](F, x), lambda x: ACTIVATIONS[name](TF, x), LAYOUTS[layout]().requires_grad_())


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", "uint8"])
@pytest.mark.parametrize(
    "name", [n for n in ACTIVATIONS if n not in ("relu6", "hardtanh", "hardtanh of a range", "softsign", "tanhshrink")]
)
def test_refused_dtypes(name: str, dtype: str, agree: Any) -> None:
    x = torch.ones(16).to(getattr(torch, dtype))
    agree(lambda x: ACTIVATIONS[name](F, x), lambda x: ACTIVATIONS[name](TF, x), x)


@pytest.mark.parametrize("weight", [[0.25], [0.25, -1.0, 0.0]])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_prelu(dtype: str, weight: list[float], agree: Any) -> None:
    x = points(dtype)[:27].reshape(-1, 3).requires_grad_()
    agree(F.prelu, TF.prelu, x, torch.tensor(weight, dtype=x.dtype, requires_grad=True))
    agree(F.prelu, TF.prelu, torch.tensor(-2.0, dtype=x.dtype), torch.tensor(weight[:1], dtype=x.dtype))
    agree(F.prelu, TF.prelu, torch.zeros(0, 3, dtype=x.dtype, requires_grad=True), torch.tensor(weight, dtype=x.dtype))


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax(hard: bool) -> None:
    for tau in (1.0, 0.5, 3.0):
        x = torch.linspace(-2, 2, 12).reshape(3, 4)
        for dim in (0, 1):
            torch.manual_seed(5)
            a = x.clone().requires_grad_()
            wanted = TF.gumbel_softmax(a, tau, hard, dim=dim)
            tf.manual_seed(5)
            b = tf.tensor(x.tolist(), requires_grad=True)
            got = F.gumbel_softmax(b, tau, hard, dim=dim)
            weights = torch.linspace(0, 1, 12).reshape(3, 4)
            (wanted * weights).sum().backward()
            (got * tf.tensor(weights.tolist())).sum().backward()
            torch.testing.assert_close(torch.tensor(got.tolist()), wanted.detach())
            torch.testing.assert_close(torch.tensor(b.grad.tolist()), a.grad)


@pytest.mark.parametrize(
    "name", ["hardswish", "logsigmoid", "softplus", "mish", "gelu", "silu", "elu", "hardsigmoid", "softsign"]
)
def test_half_precision_is_float32_rounded(name: str) -> None:
    tf.manual_seed(0)
    x = tf.randn(20_000).to(tf.bfloat16).requires_grad_()
    wide = x.detach().float().requires_grad_()
    g = tf.randn(20_000).to(tf.bfloat16)
    ACTIVATIONS[name](F, x).backward(g)
    ACTIVATIONS[name](F, wide).backward(g.float())
    difference, size = (x.grad.float() - wide.grad).abs(), wide.grad.abs()
    assert bool((difference <= 1e-5 + 1.6e-2 * size).all())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["threshold", "hardtanh", "hardshrink", "softshrink", "hardsigmoid", "hardswish", "relu6"])
def test_limits_that_half_precision_does_not_hold(name: str, dtype: str) -> None:
    """Numbers beside a limit such as 0.1, which rounding the limit would move to the other side."""
    options = {"threshold": (0.1, 20.0), "hardtanh": (-0.3, 0.1), "hardshrink": (0.1,), "softshrink": (0.1,)}.get(name, ())
    near = [limit * (1 + k * 2.0**-9) for limit in (0.1, -0.1, -0.3, 3.0, -3.0, 6.0) for k in range(-2, 3)]
    a = torch.tensor(near, dtype=getattr(torch, dtype), requires_grad=True)
    b = tf.tensor(near, dtype=getattr(tf, dtype), requires_grad=True)
    wanted, got = getattr(TF, name)(a, *options), getattr(F, name)(b, *options)
    wanted.sum().backward()
    got.sum().backward()
    assert got.tolist() == wanted.tolist()
    assert b.grad.tolist() == a.grad.tolist()


REVERSED: dict[str, Callable[[Any, Any], Any]] = {
    "elu_": lambda F, x: F.elu_(x, -1.0),
    "elu": lambda F, x: F.elu(x, -0.5, inplace=True),
    "celu_": lambda F, x: F.celu_(x, -1.0),
    "leaky_relu_": lambda F, x: F.leaky_relu_(x, -0.1),
    "leaky_relu": lambda F, x: F.leaky_relu(x, -0.1, inplace=True),
    "rrelu_": lambda F, x: F.rrelu_(x, -0.5, -0.1),
    "elu_ of a positive slope": lambda F, x: F.elu_(x, 0.5),
    "leaky_relu_ of none": lambda F, x: F.leaky_relu_(x, 0.0),
    "leaky_relu beside": lambda F, x: F.leaky_relu(x, -0.1),
}


@pytest.mark.parametrize("name", REVERSED)
def test_written_units_refuse_to_differentiate_negative_slopes(name: str) -> None:
    said: list[Any] = []
    for lib, functions in ((torch, TF), (tf, F)):
        x = lib.tensor([-1.0, 0.5], requires_grad=True)
        result = REVERSED[name](functions, x * 1)
        try:
            result.sum().backward()
            said.append((result.tolist(), x.grad.tolist()))
        except RuntimeError as error:
            said.append(str(error))
    if isinstance(said[0], str):
        assert "backward calculation is triggered with a negative slope" in said[0]
        assert "backward calculation is triggered with a negative slope" in said[1]
    else:
        assert said[1][0] == pytest.approx(said[0][0])
        assert said[1][1] == pytest.approx(said[0][1])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_inputs_that_are_written_before_backward(name: str) -> None:
    """A unit's gradient may read its result, or its input, which then must be as it was: as in PyTorch."""

    def outcome(library: Any, functional: Any) -> str:
        x = library.linspace(-2.0, 2.0, 40).reshape(4, 10).requires_grad_()
        y = x * 1
        z = ACTIVATIONS[name](functional, y)
        y.ceil_()
        try:
            z.sum().backward()
        except RuntimeError as error:
            return str(error)[: str(error).index(" operation")]
        return ""

    assert outcome(tf, F) == outcome(torch, TF)


@pytest.mark.parametrize("training", [False, True])
def test_rrelu_takes_no_lower_bound_above_the_upper_one(training):
    for m in (torch, tf):
        with pytest.raises(RuntimeError, match="Lower bound should be less than or equal to the upper bound"):
            m.nn.functional.rrelu(m.ones(2), 0.3, 0.1, training)
