"""Steps with other parameters and another state, beside PyTorch's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBS = (tenfold, torch)
if not hasattr(torch.optim, "swap_in_optimizer_params_and_state"):
    pytest.skip("this PyTorch has no swap_in_optimizer_params_and_state", allow_module_level=True)


def stepped(lib: Any, kind: str) -> tuple[Any, list[Any]]:
    weights = [lib.arange(3.0) + i for i in range(2)]
    weights = [w.requires_grad_() for w in weights]
    optimizer = getattr(lib.optim, kind)([{"params": weights[:1]}, {"params": weights[1:], "lr": 0.3}], lr=0.1)
    step(optimizer)
    return optimizer, weights


def step(optimizer: Any) -> None:
    for group in optimizer.param_groups:
        for w in group["params"]:
            w.grad = w.detach() * 2 + 1
    optimizer.step()


def told(optimizer: Any) -> Any:
    state = optimizer.state_dict()
    entries = {i: {k: v.tolist() for k, v in entry.items() if hasattr(v, "tolist")} for i, entry in state["state"].items()}
    return entries, [{k: v for k, v in group.items() if k in ("lr", "params")} for group in state["param_groups"]]


@pytest.mark.parametrize("kind", ["Adam", "RMSprop", "Adagrad"])
def test_steps(kind: str) -> None:
    found = []
    for lib in LIBS:
        optimizer, weights = stepped(lib, kind)
        before, groups, state = told(optimizer), [id(g) for g in optimizer.param_groups], optimizer.state
        given = copy.deepcopy(optimizer.state_dict())
        given["param_groups"][0]["lr"] = 0.7
        others = {str(i): lib.ones(3, requires_grad=True) for i in range(2)}
        with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, given):
            inside = [id(w) for g in optimizer.param_groups for w in g["params"]]
            step(optimizer)
            optimizer.param_groups[0]["lr"] = 5.0
        assert inside == [id(w) for w in others.values()]
        assert told(optimizer) == before
        assert optimizer.state is state
        assert [id(g) for g in optimizer.param_groups] == groups
        assert [id(w) for g in optimizer.param_groups for w in g["params"]] == [id(w) for w in weights]
        written = {i: {k: v.tolist() for k, v in e.items() if hasattr(v, "tolist")} for i, e in given["state"].items()}
        found.append(([w.tolist() for w in others.values()], written))
    for mine, theirs in zip(found[0][0], found[1][0], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6)
    for number, entry in found[0][1].items():
        for name, mine in entry.items():
            assert mine == pytest.approx(found[1][1][number][name], rel=1e-6), name


def _without(state: dict[str, Any], key: str) -> dict[str, Any]:
    state["param_groups"][0].pop(key)
    return state


def _with(state: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    inner: Any = state
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return state


BROKEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no dictionary": lambda s: [],
    "a group less": lambda s: _with(s, ("param_groups",), s["param_groups"][:1]),
    "groups in a tuple": lambda s: _with(s, ("param_groups",), tuple(s["param_groups"])),
    "an option less": lambda s: _without(s, "lr"),
    "an option more": lambda s: _with(s, ("param_groups", 0, "more"), 1),
    "a parameter more": lambda s: _with(s, ("param_groups", 0, "params"), [0, 1]),
    "no numbers": lambda s: _with(s, ("param_groups", 0, "params"), ["a"]),
    "an entry more": lambda s: _with(s, ("state", 7), {}),
    "no entries": lambda s: _with(s, ("state",), []),
    "an entry that is none": lambda s: _with(s, ("state", 0), 3),
}


@pytest.mark.parametrize("case", [*BROKEN, "parameters", "no state"])
def test_what_does_not_fit(case: str) -> None:
    for lib in LIBS:
        optimizer, weights = stepped(lib, "Adam")
        given = copy.deepcopy(optimizer.state_dict())
        others = {str(i): lib.ones(3) for i in range(1 if case == "parameters" else 2)}
        if case == "no state":
            optimizer = lib.optim.Adam(weights)
        with (
            pytest.raises(RuntimeError),
            lib.optim.swap_in_optimizer_params_and_state(optimizer, others, BROKEN.get(case, lambda s: s)(given)),
        ):
            raise AssertionError("not refused")


def test_an_error_inside_gives_the_optimizer_back() -> None:
    for lib in LIBS:
        optimizer, weights = stepped(lib, "Adam")
        others = {str(i): lib.ones(3) for i in range(2)}
        with (
            pytest.raises(ValueError, match="mine"),
            lib.optim.swap_in_optimizer_params_and_state(optimizer, others, optimizer.state_dict()),
        ):
            raise ValueError("mine")
        assert optimizer.param_groups[0]["params"][0] is weights[0]
