"""Selective checkpoints keep what a policy says: values, gradients and what runs again are PyTorch's."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import pytest

import tenfold
from tenfold._ops import ops

torch = pytest.importorskip("torch")

SHOWN = ("mm", "sin", "relu", "sigmoid", "exp", "max", "var_mean", "add", "mul", "sort", "native_layer_norm")  # forward only


def _ops(t: Any) -> Any:
    return torch.ops if t is torch else ops


def _part(t: Any, x: Any, w: Any) -> Any:
    return t.sigmoid(t.relu(t.sin(x @ w) @ w) @ w).exp()


def _several(t: Any, x: Any, w: Any) -> Any:
    values, _ = t.sort(x @ w, dim=1)
    top, _ = t.max(values.exp() @ w, dim=0)
    return top.sin().exp()


def _in_place(t: Any, x: Any, w: Any) -> Any:
    return ((x @ w).sin_() @ w).mul_(2).exp()


def _views(t: Any, x: Any, w: Any) -> Any:
    y = (x @ w).t()[1:]
    return y.unsqueeze(0).sin().exp().squeeze(0)


def _reshaped(t: Any, x: Any, w: Any) -> Any:
    y = (x @ w).t().reshape(6)  # of another memory order, so that no view is possible
    return (y.view(2, 3) @ w).sin().exp()


def _norm(t: Any, x: Any, w: Any) -> Any:
    return t.nn.functional.layer_norm(x @ w, (3,)).sin().exp()


PARTS = {
    "chain": _part,
    "several results": _several,
    "in place": _in_place,
    "views": _views,
    "layer norm": _norm,
    "reshaped": _reshaped,
}


def _policies(t: Any) -> dict[str, Any]:
    kinds, aten = importlib.import_module(f"{t.__name__}.utils.checkpoint").CheckpointPolicy, _ops(t).aten

    def by_name(*names: str) -> Any:
        return lambda ctx, op, *a, **k: kinds.PREFER_SAVE if str(op).split(".")[1] in names else kinds.MUST_RECOMPUTE

    return {
        "a list": [aten.mm.default],
        "a function": by_name("sin", "sigmoid", "sort", "max", "native_layer_norm"),
        "views": by_name("t", "view", "unsqueeze", "slice", "mm"),
        "nothing": lambda ctx, op, *a, **k: kinds.PREFER_RECOMPUTE,
        "offload": lambda ctx, op, *a, **k: kinds.MUST_CPU_OFFLOAD,
        "bools": lambda ctx, op, *a, **k: op is aten.exp.default,
        "by result": lambda ctx, op, *a, **k: kinds.MUST_SAVE if getattr(ctx.op_output, "ndim", 0) == 2 else kinds.MUST_RECOMPUTE,
    }


def _counted(t: Any, part: Any, policy: str, **options: Any) -> Any:
    """Value, gradients, and the operators that ran in the backward pass: of those that only a forward pass has."""
    made = importlib.import_module(f"{t.__name__}.utils.checkpoint")
    modes = importlib.import_module(f"{t.__name__}.utils._python_dispatch")
    names: list[str] = []

    class Listing(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    x = t.linspace(-1, 1, 6).view(2, 3).requires_grad_(True)
    w = (t.arange(9.0).view(3, 3) / 8 - 0.4).requires_grad_(True)
    contexts = functools.partial(made.create_selective_checkpoint_contexts, _policies(t)[policy])
    again = []

    def run(x: Any, w: Any) -> Any:
        start = len(names)
        try:
            return part(t, x, w)
        finally:
            again.append([n for n in names[start:] if n.split(".")[1].rstrip("_") in SHOWN])

    with Listing():
        y = made.checkpoint(run, x, w, use_reentrant=False, context_fn=contexts, **options)
        y.sum().backward()
    return y.tolist(), x.grad.tolist(), w.grad.tolist(), again


def _counted_or_refused(t: Any, part: Any, policy: str, **options: Any) -> Any:
    """What `_counted` finds; where a kept result was written to in place, what is said of that."""
    try:
        return _counted(t, part, policy, **options)
    except RuntimeError as error:
        assert part is _in_place
        return str(error)


@pytest.mark.parametrize("policy", _policies(torch))
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("early_stop", [True, False])
def test_values_gradients_and_what_runs_again(part: Any, policy: str, early_stop: bool) -> None:
    ours, theirs = (_counted_or_refused(t, part, policy, early_stop=early_stop) for t in (tenfold, torch))
    if isinstance(theirs, str):
        assert ours == theirs
        return
    for a, b in zip(ours[:3], theirs[:3], strict=True):
        tenfold.testing.assert_close(tenfold.tensor(a), tenfold.tensor(b))
    assert ours[3] == theirs[3]
    assert len(ours[3]) == 2


def _failure(t: Any, problem: str) -> tuple[str, str]:
    made = importlib.import_module(f"{t.__name__}.utils.checkpoint")
    keep = functools.partial(made.create_selective_checkpoint_contexts, [_ops(t).aten.mm.default])
    x, runs = t.ones(2, 2).requires_grad_(), []

    def part(x: Any) -> Any:
        runs.append(1)
        y = x @ x
        if problem == "another operator" and len(runs) > 1:
            y = y.cos()
        y = y.exp() if problem != "written" else y
        if problem == "once more" and len(runs) > 1:
            with t.no_grad():
                y = y @ x
        return y

    def run() -> None:
        if problem in ("a packet", "a text", "a tuple"):
            op = _ops(t).aten.mm
            made.create_selective_checkpoint_contexts({"a packet": [op], "a text": ["mm"], "a tuple": (op.default,)}[problem])
        elif problem == "written":
            y = made.checkpoint(lambda x: (part(x).sin_(), x.exp().exp())[1], x, use_reentrant=False, context_fn=keep)
            y.sum().backward()
        else:
            y = made.checkpoint(part, x, use_reentrant=False, context_fn=keep, early_stop=problem == "twice")
            y.sum().backward(retain_graph=True)
            y.sum().backward()

    with pytest.raises(Exception) as caught:
        run()
    return type(caught.value).__name__, str(caught.value).split(" of type")[0]


@pytest.mark.parametrize("problem", ["a packet", "a text", "a tuple", "written", "twice", "another operator", "once more"])
def test_what_is_refused(problem: str) -> None:
    assert _failure(tenfold, problem) == _failure(torch, problem)


def test_what_was_written_may_be_taken() -> None:
    def gradient(t: Any) -> Any:
        made = importlib.import_module(f"{t.__name__}.utils.checkpoint")
        keep = functools.partial(made.create_selective_checkpoint_contexts, [_ops(t).aten.mm.default], True)
        x = t.ones(2, 2).requires_grad_()
        part = lambda x: ((x @ x).detach().fill_(3.0), x.exp().exp())[1]  # noqa: E731
        made.checkpoint(part, x, use_reentrant=False, context_fn=keep).sum().backward()
        return x.grad.tolist()

    tenfold.testing.assert_close(tenfold.tensor(gradient(tenfold)), tenfold.tensor(gradient(torch)))


def test_policies_have_pytorchs_numbers_and_the_part_may_run_without_gradients() -> None:
    from torch.utils import checkpoint as theirs

    from tenfold.utils import checkpoint as ours

    assert {p.name: p.value for p in ours.CheckpointPolicy} == {p.name: p.value for p in theirs.CheckpointPolicy}
    keep = functools.partial(ours.create_selective_checkpoint_contexts, [ops.aten.mm.default])
    with tenfold.no_grad():
        assert ours.checkpoint(lambda x: x @ x, tenfold.ones(1, 1), use_reentrant=False, context_fn=keep).item() == 1
    assert list(ours.SAC_IGNORED_OPS) == [ops.aten.detach.default]
    assert len(ours.SAC_IGNORED_OPS) == 1
