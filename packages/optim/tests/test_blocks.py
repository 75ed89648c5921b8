"""Rules that run by NumPy, a block after the other, do what the operators do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.inspection.tracing import trace
from tenfold.optim import SGD, Adam, AdamW, Optimizer, blocks, rule
from tenfold.optim.blocks import BLOCK, in_blocks

ODD = (3, BLOCK // 2 + 5)  # more than a block, and no multiple of one

CASES: list[tuple[type[Optimizer], dict[str, Any]]] = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    (SGD, {"lr": 0.1, "momentum": 0.9}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (Adam, {"lr": 0.1, "weight_decay": 0.1}),
    (Adam, {"lr": 0.1, "amsgrad": True, "maximize": True}),
    (Adam, {"lr": 0.1, "betas": (0.2, 0.9)}),
    (Adam, {"lr": 0.1, "betas": (0.0, 0.0)}),
    (AdamW, {"lr": tenfold.tensor(0.1), "weight_decay": 0.1}),
]
NAMES = [f"{kind.__name__}-{'-'.join(options)}-{i}" for i, (kind, options) in enumerate(CASES)]


@pytest.fixture(autouse=True)
def numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compiled steps of other packages, which are asked for theirs first."""
    rule._has_fused_kernels([tenfold.ones(1)])
    monkeypatch.setattr(rule, "_fused_kernels", {})


def train(kind: type[Optimizer], options: dict[str, Any], dtype: str = "float32", shape: Any = ODD, how: Any = None) -> Any:
    random = np.random.default_rng(0)
    param = tenfold.tensor(np.asarray(random.normal(size=shape), dtype))
    param = (how(param) if how else param).requires_grad_()
    optimizer = kind([param], **options)
    for step in range(4):
        grad = np.asarray(random.normal(size=shape), dtype)
        if step == 2 and grad.size > 4:
            grad.reshape(-1)[:4] = np.inf, -np.inf, np.nan, 0
        param.grad = tenfold.empty_like(param).copy_(tenfold.from_numpy(grad))
        optimizer.step()
    return param.detach(), optimizer.state[param]


def by_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("adam", "sgd"):
        monkeypatch.setattr(f"tenfold.optim.{module}.in_blocks", lambda *_: False)


def assert_same(mine: Any, theirs: Any) -> None:
    """Up to the last places: compiled operators, where they are installed, round once where NumPy rounds twice."""
    eps = tenfold.finfo(mine[0].dtype).eps
    assert list(mine[1]) == list(theirs[1])
    for name, value, other in [("param", *mine[:1], *theirs[:1]), *((n, v, theirs[1][n]) for n, v in mine[1].items())]:
        np.testing.assert_allclose(value.numpy(), other.numpy(), rtol=32 * eps, atol=8 * eps, err_msg=name)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [ODD, (7,), (), (0, 3)], ids=str)
def test_equal_to_operators(
    monkeypatch: pytest.MonkeyPatch, kind: type[Optimizer], options: dict[str, Any], dtype: str, shape: Any
) -> None:
    calls = _counted(monkeypatch)
    mine = train(kind, options, dtype, shape)
    assert (calls[0] >= 3) is (shape == ODD)
    by_operators(monkeypatch)
    assert_same(mine, train(kind, options, dtype, shape))


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the runs by blocks from here on."""
    calls = [0]
    run = blocks._by_blocks

    def count(*args: Any) -> None:
        calls[0] += 1
        run(*args)

    monkeypatch.setattr(blocks, "_by_blocks", count)
    return calls


def channels_last(x: Any) -> Any:
    return x.contiguous(memory_format=tenfold.channels_last)


def transposed(x: Any) -> Any:
    return x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)


def every_second(x: Any) -> Any:
    return tenfold.stack([x, x], -1)[..., 0]


# Adam divides g + decay p by its own size: where the two cancel, one rounding or two make more than float32's last places.
@pytest.mark.parametrize(("how", "blocked"), [(channels_last, True), (transposed, True), (every_second, False)])
@pytest.mark.parametrize(
    ("kind", "options", "dtype"),
    [(*CASES[3], "float32"), (*CASES[5], "float64"), (Adam, {"lr": 0.1}, "float32"), (*CASES[9], "float32")],
    ids=["SGD", "Adam", "Adam without decay", "AdamW"],
)
def test_layouts(
    monkeypatch: pytest.MonkeyPatch, kind: type[Optimizer], options: dict[str, Any], dtype: str, how: Any, blocked: bool
) -> None:
    shape = (16, 8, 32, 32)
    calls = _counted(monkeypatch)
    mine = train(kind, options, dtype, shape, how)
    assert (calls[0] > 0) is blocked
    by_operators(monkeypatch)
    assert_same(mine, train(kind, options, dtype, shape, how))


def test_half_precision_and_mixed_gradients_go_by_operators() -> None:
    for dtypes in (("float16", "float16"), ("float32", "float64"), ("int32", "int32")):
        a, b = (tenfold.ones(3, dtype=getattr(tenfold, dtype)) for dtype in dtypes)
        assert not in_blocks(lambda *_: pytest.fail("ran"), (1.0,), [a], b)


def test_memory_that_overlaps_goes_by_operators() -> None:
    memory = tenfold.zeros(2 * BLOCK + 1)
    assert not in_blocks(lambda *_: pytest.fail("ran"), (1.0,), [memory[1:]], memory[:-1])
    assert not in_blocks(lambda *_: pytest.fail("ran"), (1.0,), [tenfold.zeros(1).expand(BLOCK * 2)], tenfold.zeros(BLOCK * 2))


def test_writes_are_counted() -> None:
    param = tenfold.ones(5, requires_grad=True)
    loss = (param * param).sum()
    param.grad = tenfold.ones(5)
    before = param._version
    Adam([param]).step()
    assert param._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_layer_sees_the_operators() -> None:
    param, grad = tenfold.ones(5), tenfold.ones(5)

    def step(x: Any, g: Any) -> Any:
        x = x.clone().requires_grad_()
        x.grad = g
        AdamW([x]).step()
        return x.detach()

    graph = trace(step, param, grad)
    assert "addcdiv" in str(graph)


def test_warnings_of_numpy_stay_quiet() -> None:
    param = tenfold.full((BLOCK * 2,), 3e38, requires_grad=True)
    param.grad = tenfold.full((BLOCK * 2,), 3e38)
    Adam([param], lr=1.0).step()  # the square overflows: v is inf, and the step zero
    assert param[0].item() == np.float32(3e38)
