"""Recurrent layers against PyTorch's in double precision: values, all gradients, and gradients of gradients."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import tenfold
import tenfold.nn.utils.rnn

torch = pytest.importorskip("torch")

OPTIONS = [
    {},
    {"bias": False},
    {"num_layers": 2, "bidirectional": True},
    {"num_layers": 3, "batch_first": True},
]
KINDS = [("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("GRU", {}), ("LSTM", {}), ("LSTM", {"proj_size": 2})]
CASES = [(kind, {**own, **options}) for (kind, own), options in product(KINDS, OPTIONS)]
IDS = [f"{kind} {options}" for kind, options in CASES]
LENGTHS = [3, 5, 1, 3]


def pair(kind: str, options: dict[str, Any], dtype: str = "float64") -> list[Any]:
    """The same layer in both libraries."""
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(3, 4, **options)
    ours = getattr(tenfold.nn, kind)(3, 4, **options)
    ours.load_state_dict({name: tenfold.from_numpy(value.numpy()) for name, value in theirs.state_dict().items()})
    return [tenfold, ours.to(getattr(tenfold, dtype))], [torch, theirs.to(getattr(torch, dtype))]


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def state_of(lib: Any, kind: str, options: dict[str, Any], batch: int) -> Any:
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    h = lib.from_numpy(numbers(count, batch, options.get("proj_size") or 4, seed=1)).requires_grad_()
    return (h, lib.from_numpy(numbers(count, batch, 4, seed=2)).requires_grad_()) if kind == "LSTM" else h


def run(lib: Any, layer: Any, kind: str, options: dict[str, Any], packed: bool, second: bool) -> list[Any]:
    """Outputs, last state, and gradients of a weighted sum of them; or the gradients of the gradients' squares."""
    shape = (4, 5, 3) if options.get("batch_first") else (5, 4, 3)
    x = lib.from_numpy(numbers(*shape)).requires_grad_()
    state = state_of(lib, kind, options, 4)
    utils = lib.nn.utils.rnn
    batch_first = options.get("batch_first", False)
    given = utils.pack_padded_sequence(x, LENGTHS, batch_first, enforce_sorted=False) if packed else x
    output, last = layer(given, state)
    output = output.data if packed else output
    results = [output, *(last if kind == "LSTM" else [last])]
    loss = sum((r * lib.from_numpy(numbers(*r.shape, seed=3))).sum() for r in results)
    inputs = [x, *(state if kind == "LSTM" else [state]), *layer.parameters()]
    if not second:
        return [*results, *lib.autograd.grad(loss, inputs)]
    grads = lib.autograd.grad(loss, inputs, create_graph=True)
    return list(lib.autograd.grad(sum((g * g).sum() for g in grads), inputs, allow_unused=True, materialize_grads=True))


def check(kind: str, options: dict[str, Any], *how: bool) -> None:
    made = [run(lib, layer, kind, options, *how) for lib, layer in pair(kind, options)]
    for ours, theirs in zip(*made, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("packed", [False, True], ids=["padded", "packed"])
@pytest.mark.parametrize(("kind", "options"), CASES, ids=IDS)
def test_values_and_gradients_are_pytorchs(kind, options, packed):
    check(kind, options, packed, False)


@pytest.mark.parametrize(("kind", "options"), CASES[::2], ids=IDS[::2])
def test_gradients_of_gradients_are_pytorchs(kind, options):
    check(kind, options, False, True)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_sequences_have_second_gradients_too(kind):
    check(kind, {"bidirectional": True}, True, True)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("bfloat16", 3e-2), ("float16", 3e-3)])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_shorter_dtypes(kind, dtype, tolerance):
    results = []
    for lib, layer in pair(kind, {"num_layers": 2}, dtype):
        x = lib.from_numpy(numbers(5, 4, 3)).to(getattr(lib, dtype)).requires_grad_()
        layer(x)[0].sum().backward()
        results.append([v.detach().double().numpy() for v in (layer(x)[0], x.grad, *(p.grad for p in layer.parameters()))])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance * 4, atol=tolerance * max(1, abs(theirs).max()))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300, 0.0])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_values_that_hurt(kind, value):
    results = []
    for lib, layer in pair(kind, {}):
        data = numbers(5, 4, 3)
        data[2, 1, 0] = value
        results.append(layer(lib.from_numpy(data))[0].detach().numpy())
    np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Complex modules")
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_complex_numbers(kind):
    results = []
    for lib, layer in pair(kind, {"bidirectional": True}, "complex128"):
        x = lib.from_numpy(numbers(5, 4, 3) * 0.3 + 0.2j).requires_grad_()
        layer(x)[0].abs().sum().backward()
        results.append([x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["RNN", "LSTM"])
def test_autocast_runs_them_in_half_precision(kind):
    for lib in (tenfold, torch):
        with lib.autocast("cpu"):
            try:
                result = getattr(lib.nn, kind)(3, 4)(lib.ones(5, 2, 3))[0]
            except RuntimeError as error:  # PyTorch's LSTM asks oneDNN, which has no bfloat16 kernel on some processors
                if lib is tenfold or "could not create a primitive descriptor" not in str(error):
                    raise
            else:
                assert result.dtype is lib.bfloat16


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_odd_inputs(kind):
    for lib, layer in pair(kind, {}):
        assert tuple(layer(lib.zeros(2, 0, 3, dtype=lib.float64))[0].shape) == (2, 0, 4)
        with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 0 in RNN"):
            layer(lib.zeros(0, 2, 3, dtype=lib.float64))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_transforms(kind):
    """Per-sample gradients, and forward mode, against one sample at a time and the way back."""
    layer = getattr(tenfold.nn, kind)(3, 4).double()
    weights = dict(layer.named_parameters())
    batch = tenfold.from_numpy(numbers(6, 5, 3))

    def loss(weights, x):
        return (tenfold.func.functional_call(layer, weights, (x,))[0] ** 2).sum()

    together = tenfold.func.vmap(tenfold.func.grad(loss), (None, 0))(weights, batch)
    for i, x in enumerate(batch):
        for name, one in tenfold.func.grad(loss)(weights, x).items():
            np.testing.assert_allclose(together[name][i].detach().numpy(), one.detach().numpy(), rtol=1e-10, atol=1e-12)
    x, direction = batch[0], batch[1]
    slope = tenfold.func.jvp(lambda x: loss(weights, x), (x,), (direction,))[1]
    whole = (tenfold.func.grad(loss, 1)(weights, x) * direction).sum()
    np.testing.assert_allclose(slope.item(), whole.item(), rtol=1e-10)


def test_infinite_gradients_stop_at_closed_units():
    """Of relu: where the unit gave 0, nothing flows back, not even infinity or NaN."""
    found = []
    for lib in (tenfold, torch):
        x = lib.tensor([[[1.0]], [[-1.0]], [[2.0]]]).requires_grad_()
        layer = lib.nn.RNN(1, 1, nonlinearity="relu", bias=False)
        for weight in layer.parameters():
            weight.data.fill_(1.0)
        weights = lib.tensor([[[1.0]], [[float("inf")]], [[float("nan")]]])
        (first,) = lib.autograd.grad(layer(x)[0], x, weights * lib.tensor([[[1.0]], [[1.0]], [[0.5]]]))
        closed = -lib.ones(3, 1, 1).requires_grad_()
        found.append([first.tolist(), lib.autograd.grad(layer(closed)[0], closed, weights)[0].tolist()])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_last_states_are_detached_in_place(name: str, layers: int) -> None:
    """As truncated backpropagation through time does between two stretches; of one layer they had been views."""
    for lib in (torch, tenfold):
        network = getattr(lib.nn, name)(2, 3, layers)
        _, last = network(lib.ones(4, 1, 2))
        for state in last if isinstance(last, tuple) else (last,):
            assert state.detach_().requires_grad is False
        network(lib.ones(4, 1, 2), last)[0].sum().backward()
