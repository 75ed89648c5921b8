"""States of models and optimizers by the names of parameters, in one process, compared with PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tenfold
from tenfold.as_torch.stand_ins.distributed import state_dicts

torch = pytest.importorskip("torch")
theirs = importlib.import_module("torch.distributed.checkpoint.state_dict")
MODULES = {tenfold: state_dicts, torch: theirs}


def _model(t: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3), t.nn.Linear(3, 1)).double()
    with t.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(t.arange(float(p.numel()), dtype=t.float64).view_as(p).sub(i).mul(0.1))
    model[0].bias.requires_grad_(False)
    return model


def _trained(t: Any, kind: str = "Adam") -> Any:
    model = _model(t)
    groups = [{"params": model[0].parameters()}, {"params": [*model[1].parameters(), *model[2].parameters()], "lr": 0.05}]
    optimizer = getattr(t.optim, kind)(groups, lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(t.arange(8.0, dtype=t.float64).view(4, 2)).square().sum().backward()
        optimizer.step()
    return model, optimizer


def _numbers(value: Any) -> list[float]:
    """All numbers of a state, in its order."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    return value.flatten().tolist() if hasattr(value, "flatten") else []


OPTIONS = ("ignore_frozen_params", "cpu_offload", "full_state_dict", "flatten_optimizer_state_dict")


@pytest.mark.parametrize("options", [{}, *({name: True} for name in OPTIONS)])
def test_states(options: dict[str, bool]) -> None:
    states = {}
    for t, module in MODULES.items():
        model, optimizer = _trained(t)
        states[t] = module.get_state_dict(model, optimizer, options=module.StateDictOptions(**options))
    ours, expected = states[tenfold], states[torch]
    for a, b in zip(ours, expected):
        assert list(a) == list(b)
        assert _numbers(a) == pytest.approx(_numbers(b), rel=1e-6, abs=1e-8)
    for a, b in zip(ours[1].get("param_groups", []), expected[1].get("param_groups", [])):
        assert {key: a[key] for key in ("params", "lr", "betas")} == {key: b[key] for key in ("params", "lr", "betas")}


@pytest.mark.parametrize("kind", ["Adam", "SGD"])
@pytest.mark.parametrize("flat", [False, True])
def test_training_goes_on_from_a_state(kind: str, flat: bool) -> None:
    losses = {}
    for t, module in MODULES.items():
        options = module.StateDictOptions(flatten_optimizer_state_dict=flat)
        saved = module.get_state_dict(*_trained(t, kind), options=options)
        model = _model(t)
        optimizer = getattr(t.optim, kind)(
            [{"params": model[0].parameters()}, {"params": [*model[1].parameters(), *model[2].parameters()]}], lr=0.7
        )
        keys = module.set_state_dict(model, optimizer, model_state_dict=saved[0], optim_state_dict=saved[1], options=options)
        assert list(keys.missing_keys) == [] == list(keys.unexpected_keys)
        for _ in range(2):
            optimizer.zero_grad()
            loss = model(t.arange(8.0, dtype=t.float64).view(4, 2)).square().sum()
            loss.backward()
            optimizer.step()
            losses.setdefault(t, []).append(loss.item())
    assert losses[tenfold] == pytest.approx(losses[torch], rel=1e-6)


def test_an_optimizer_without_state_gets_one() -> None:
    states = []
    for t, module in MODULES.items():
        model = _model(t)
        optimizer = t.optim.Adam(model.parameters(), lr=0.3)
        before = [p.tolist() for p in model.parameters()]
        state = module.get_optimizer_state_dict(model, optimizer)["state"]
        assert [p.tolist() for p in model.parameters()] == before
        assert optimizer.param_groups[0]["lr"] == 0.3
        states.append({name: sorted(values) for name, values in state.items()})
    assert states[0] == states[1]


def test_what_does_not_fit() -> None:
    for t, module in MODULES.items():
        model = _model(t)
        with pytest.raises(RuntimeError, match="Missing key"):
            module.set_model_state_dict(model, {"a": t.ones(1)})
        keys = module.set_model_state_dict(model, {"a": t.ones(1)}, options=module.StateDictOptions(strict=False))
        assert keys.unexpected_keys == ["a"]
        with pytest.raises(ValueError, match="full_state_dict must be True"):
            module.get_model_state_dict(model, options=module.StateDictOptions(broadcast_from_rank0=True))


def test_a_whole_state_replaces_tensors_without_numbers() -> None:
    with tenfold.device("meta"):
        empty = tenfold.nn.Linear(2, 3)
    options = state_dicts.StateDictOptions(full_state_dict=True)
    state_dicts.set_model_state_dict(empty, {"weight": tenfold.ones(3, 2), "bias": tenfold.zeros(3)}, options=options)
    assert empty.weight.sum().item() == 6
