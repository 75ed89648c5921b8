"""Ten steps of the optimizers are PyTorch's to the last bit, with roots that are the nearest number: PyTorch's are not always."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

N = 64  # whole vectors: what is left over PyTorch may compute otherwise
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    ("AdamW", {}),
    ("AdamW", {"amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("NAdam", {}),
    ("NAdam", {"weight_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.1, "betas": (0.9, 0.9), "weight_decay": 0.1}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adadelta", {"weight_decay": 0.1}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adamax", {"weight_decay": 0.1}),
    ("ASGD", {"weight_decay": 0.1}),
    ("Rprop", {}),
]


def nearest_root(x: Any) -> Any:
    return torch.from_numpy(np.sqrt(x.detach().numpy()))


def after_ten_steps(lib: Any, name: str, options: dict[str, Any], dtype: str) -> dict[str, Any]:
    first, *grads = np.random.default_rng(1).standard_normal((11, N)).astype(dtype)
    param = lib.tensor(first, requires_grad=True)
    optimizer = getattr(lib.optim, name)([param], **options, **({"foreach": False} if lib is torch else {}))
    for grad in grads:
        param.grad = lib.tensor(grad)
        optimizer.step()
    state = {key: value.tolist() for key, value in optimizer.state[param].items() if hasattr(value, "tolist")}
    return {"param": param.tolist(), **state}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), ROWS, ids=[f"{name}-{'-'.join(options)}" for name, options in ROWS])
def test_ten_steps(monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any], dtype: str) -> None:
    monkeypatch.setattr(torch.Tensor, "sqrt", nearest_root)
    monkeypatch.setattr(torch.Tensor, "sqrt_", lambda x: x.copy_(nearest_root(x)))
    theirs, mine = after_ten_steps(torch, name, options, dtype), after_ten_steps(tenfold, name, options, dtype)
    assert {key: mine[key] for key in theirs} == theirs
