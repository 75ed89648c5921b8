"""What is a number to an argument that asks for one: no tensor with dimensions or a gradient, no text, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

PROGRAMS: dict[str, Any] = {
    "addcdiv": lambda t, n: t.addcdiv(t.ones(2), t.ones(2), t.ones(2), value=n),
    "addcmul": lambda t, n: t.addcmul(t.ones(2), t.ones(2), t.ones(2), value=n),
    "addcmul_": lambda t, n: t.ones(2).addcmul_(t.ones(2), t.ones(2), value=n),
    "arange": lambda t, n: t.arange(n),
    "arange by steps": lambda t, n: t.arange(0, 4, n),
    "celu": lambda t, n: t.nn.functional.celu(t.tensor([1.0, -2.0]), n),
    "dist": lambda t, n: t.dist(t.ones(2), t.zeros(2), n),
    "elu": lambda t, n: t.nn.functional.elu(t.tensor([1.0, -2.0]), n),
    "elu_": lambda t, n: t.nn.functional.elu_(t.tensor([1.0, -2.0]), n),
    "fill_diagonal_": lambda t, n: t.ones(2, 2).fill_diagonal_(n),
    "full": lambda t, n: t.full((2,), n),
    "full_like": lambda t, n: t.full_like(t.ones(2), n),
    "hardshrink": lambda t, n: t.nn.functional.hardshrink(t.tensor([1.0, -2.0]), n),
    "hardtanh": lambda t, n: t.nn.functional.hardtanh(t.tensor([1.0, -2.0]), -3, n),
    "isclose": lambda t, n: t.isclose(t.ones(2), t.ones(2), n),
    "layer_norm": lambda t, n: t.nn.functional.layer_norm(t.tensor([1.0, -2.0]), (2,), eps=n),
    "leaky_relu": lambda t, n: t.nn.functional.leaky_relu(t.tensor([1.0, -2.0]), n),
    "leaky_relu by name": lambda t, n: t.nn.functional.leaky_relu(t.tensor([1.0, -2.0]), negative_slope=n),
    "nan_to_num": lambda t, n: t.nan_to_num(t.tensor([1.0, float("nan")]), n),
    "new_full": lambda t, n: t.ones(1).new_full((2,), n),
    "renorm": lambda t, n: t.renorm(t.ones(2, 2), 2, 0, n),
    "softplus": lambda t, n: t.nn.functional.softplus(t.tensor([1.0, -2.0]), n),
    "softshrink": lambda t, n: t.nn.functional.softshrink(t.tensor([1.0, -2.0]), n),
    "threshold": lambda t, n: t.nn.functional.threshold(t.tensor([1.0, -2.0]), n, 1.0),
}
NUMBERS: dict[str, Any] = {
    "int": lambda t: 2,
    "float": lambda t: 0.5,
    "NumPy's float32": lambda t: np.float32(0.5),
    "NumPy's int64": lambda t: np.int64(2),
    "a tensor without dimensions": lambda t: t.tensor(0.5),
    "a tensor of one element": lambda t: t.tensor([0.5]),
    "a tensor that needs a gradient": lambda t: t.tensor(0.5, requires_grad=True),
    "an array": lambda t: np.ones(1),
    "text": lambda t: "2",
    "a list": lambda t: [2.0],
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers(program: str, number: str) -> None:
    try:
        expected = PROGRAMS[program](torch, NUMBERS[number](torch))
    except (TypeError, RuntimeError) as error:
        with pytest.raises(type(error)):
            PROGRAMS[program](tenfold, NUMBERS[number](tenfold))
    else:
        found = PROGRAMS[program](tenfold, NUMBERS[number](tenfold))
        assert str(found.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.ones(2, 2).argmax(()),
        lambda t: t.ones(2, 2).argmin((0,)),
        lambda t: t.ones(2, 2).prod((0,)),
        lambda t: t.ones(2, 2).cumsum((0,)),
        lambda t: t.ones(2, 2).softmax((0,)),
        lambda t: t.ones(2, 2).median((0,)),
        lambda t: t.aminmax(t.ones(2, 2), dim=()),
    ],
)
def test_several_dimensions_where_one_is_asked_for(call: Any) -> None:
    with pytest.raises(TypeError):
        call(torch)
    with pytest.raises(TypeError):
        call(tenfold)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(
    "unit", [lambda t, x, n: t.nn.functional.hardtanh(x, 0, n), lambda t, x, n: t.nn.functional.softshrink(x, n)]
)
@pytest.mark.parametrize("limit", [2, 70000, 1e39])
def test_limits_out_of_range(unit: Any, dtype: str, limit: float) -> None:
    results = []
    for t in (torch, tenfold):
        x = t.tensor([0.5, 3.0, -1.0, float("inf")], dtype=getattr(t, dtype))
        try:
            results.append(unit(t, x, limit).float().tolist())
        except RuntimeError:
            results.append(None)
    assert results[0] == results[1]


@pytest.mark.parametrize("delta", [2.0, 1e30, float("inf")])
def test_huber_loss_of_a_large_delta(delta: float) -> None:
    results = []
    for t in (torch, tenfold):
        x = t.tensor([0.5, -3.0, 0.0], requires_grad=True)
        loss = t.nn.functional.huber_loss(x, t.zeros(3), delta=delta)
        loss.backward()
        results.append([loss.item(), *x.grad.tolist()])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


REFUSED: dict[str, Any] = {
    "as_strided of nothing": lambda t: t.zeros(0).as_strided((2, 2), (1, 2)),
    "as_strided of no rows": lambda t: t.zeros(2, 0).as_strided((1,), (1,)),
    "as_strided_scatter onto nothing": lambda t: t.as_strided_scatter(t.zeros(0), t.ones(1), (1,), (1,)),
    "as_strided_scatter past the end": lambda t: t.as_strided_scatter(t.zeros(4), t.ones(2), (2,), (1,), 3),
    "as_strided_scatter of another size": lambda t: t.as_strided_scatter(t.zeros(4), t.ones(1), (2,), (1,)),
    "targets above 1": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([0.5]), t.tensor([1.5])),
    "targets of nan": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([0.5]), t.tensor([float("nan")])),
    "weights that broadcast": lambda t: t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(2), t.ones(3, 2)),
    "positive weights that broadcast": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        t.ones(2), t.ones(2), pos_weight=t.ones(1, 2)
    ),
    "one running statistic": lambda t: t.nn.functional.batch_norm(t.ones(3, 2), t.ones(2), None, training=True),
    "one running statistic of instances": lambda t: t.nn.functional.instance_norm(t.ones(3, 2, 4), None, t.ones(2)),
    "a bias of another size": lambda t: t.nn.functional.bilinear(t.ones(2, 3), t.ones(2, 3), t.ones(5, 3, 3), t.ones(1)),
    "one size of two": lambda t: t.nn.functional.unfold(t.ones(1, 1, 4, 4), [2]),
    "repeats of float": lambda t: t.repeat_interleave(t.ones(3), t.tensor(2.0)),
    "repeats in a matrix": lambda t: t.repeat_interleave(t.ones(3), t.ones(1, 1, dtype=t.int64)),
    "another output_size": lambda t: t.repeat_interleave(t.ones(3), t.tensor([1, 2, 1]), output_size=3),
    "another output_size of one count": lambda t: t.repeat_interleave(t.ones(3), 2, output_size=5),
    "an order of nan": lambda t: t.cdist(t.ones(2, 2), t.ones(2, 2), float("nan")),
    "a negative eps": lambda t: t.nn.functional.cosine_similarity(t.ones(2, 2), t.ones(2, 2), eps=-1.0),
    "a delta of nan": lambda t: t.nn.functional.huber_loss(t.ones(2), t.ones(2), delta=float("nan")),
    "an infinite slope": lambda t: t.nn.functional.rrelu(t.ones(2), 0.1, float("inf")),
    "one count as a vector": lambda t: t.ones(3).chunk(t.tensor([2])),
    "a factor in a tuple": lambda t: t.addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2), beta=(1,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError)) as expected:
        REFUSED[name](torch)
    with pytest.raises(expected.type):
        REFUSED[name](tenfold)
