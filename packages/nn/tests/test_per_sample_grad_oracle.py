"""`call_for_per_sample_grads`: each example's own gradient, as PyTorch's gives it and as a loop does."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold.nn.utils._per_sample_grad import call_for_per_sample_grads

torch = pytest.importorskip("torch")
reference = pytest.importorskip("torch.nn.utils._per_sample_grad").call_for_per_sample_grads

MODULES: dict[str, Any] = {
    "linear": (lambda nn: nn.Linear(3, 2), (4, 3)),
    "linear of rows": (lambda nn: nn.Linear(3, 2), (4, 5, 3)),
    "convolution": (lambda nn: nn.Conv2d(3, 2, 3, stride=2, padding=1), (4, 3, 6, 5)),
    "norms": (lambda nn: nn.Sequential(nn.GroupNorm(1, 3), nn.InstanceNorm1d(3, affine=True), nn.LayerNorm(6)), (4, 3, 6)),
}


def gradients(engine: Any, call: Any, name: str, **options: Any) -> list[Any]:
    make, shape = MODULES[name]
    module = make(engine.nn).double()
    with engine.no_grad():
        for p in module.parameters():
            p.copy_(engine.sin(engine.arange(float(p.numel()))).reshape(p.shape))
    x = engine.cos(engine.arange(float(engine.empty(shape).numel()))).reshape(shape).double().requires_grad_()
    result = call(module, **options)(x)
    (result**2).sum().backward() if options.get("loss_reduction") != "mean" else (result**2).mean().backward()
    assert all(p.grad is None for p in module.parameters())
    return [result.tolist(), x.grad.tolist(), *(p.grad_sample.tolist() for p in module.parameters())]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("options", [{}, {"loss_reduction": "mean"}, {"batch_size": 4}])
def test_gradients(name: str, options: dict[str, Any]) -> None:
    ours, theirs = gradients(tenfold, call_for_per_sample_grads, name, **options), gradients(torch, reference, name, **options)
    for a, b in zip(ours, theirs, strict=True):
        tenfold.testing.assert_close(tenfold.tensor(a), tenfold.tensor(b))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_recurrent_layers_against_a_loop(kind: str, batch_first: bool) -> None:
    module = getattr(tenfold.nn, kind)(3, 4, num_layers=2, batch_first=batch_first)
    x = tenfold.randn(*((5, 6, 3) if batch_first else (6, 5, 3)))
    result, state = call_for_per_sample_grads(module, batch_first=batch_first)(x)
    (result**2).sum().backward()
    whole, last = module(x)
    tenfold.testing.assert_close((result, state), (whole, last))
    for i in range(5):
        loss = (module(x[i : i + 1] if batch_first else x[:, i : i + 1])[0] ** 2).sum()
        for p, expected in zip(module.parameters(), tenfold.autograd.grad(loss, list(module.parameters()))):
            tenfold.testing.assert_close(p.grad_sample[i], expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda e, c: c("fail")(e.ones(4, 3)),
        lambda e, c: c(e.nn.Linear(3, 2), batch_size=6.4)(e.ones(4, 3)),
        lambda e, c: c(e.nn.Linear(3, 2), batch_size=-1)(e.ones(4, 3)),
        lambda e, c: c(e.nn.Linear(3, 2), loss_reduction="")(e.ones(4, 3)),
        lambda e, c: c(e.nn.Bilinear(3, 3, 2))(e.ones(4, 3), e.ones(5, 3)),
        lambda e, c: c(e.nn.Linear(3, 2))("none"),
    ],
)
def test_refusals(call: Any) -> None:
    messages = []
    for engine, function in ((torch, reference), (tenfold, call_for_per_sample_grads)):
        with pytest.raises(RuntimeError) as caught:
            call(engine, function)
        messages.append(str(caught.value)[:40])
    assert messages[0] == messages[1]


def test_a_second_call_needs_fresh_parameters() -> None:
    layer = tenfold.nn.Linear(3, 2)
    call_for_per_sample_grads(layer)(tenfold.ones(4, 3)).sum().backward()
    with pytest.raises(RuntimeError, match="incorrect for multiple calls"):
        call_for_per_sample_grads(layer)(tenfold.ones(4, 3))
