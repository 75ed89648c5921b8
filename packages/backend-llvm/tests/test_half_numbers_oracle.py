"""Half precision beside numbers: PyTorch's values, in place too, and that none of it goes the interpreter's way."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from compared_calls import outcome, refused_alike

import tenfold

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on"),
    pytest.mark.filterwarnings("ignore"),
]
HALVES = ("float16", "bfloat16")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 255.0, np.inf, -np.inf, np.nan, 3.0, -2.5]
NUMBERS = (2.1, 1, 0, -0.0, -3, 1e6, 1e39, float("inf"), float("nan"), 2**60, 300, True)
SIZES = (0, 1, 5, 5000)
ARITHMETIC = ("add", "sub", "mul", "div")
LAYOUTS: dict[str, Any] = {"in a row": lambda x: x, "strided": lambda x: x[::2], "one": lambda x: x[:1].reshape(())}


def both(dtype: str, size: int) -> list[Any]:
    return [m.tensor(np.resize(SPECIAL, size)).to(getattr(m, dtype)) for m in (tenfold, torch)]


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if refused_alike(ours, theirs, what):
        return
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert not ours.numel() or tuple(ours.stride()) == tuple(theirs.stride()), what
    got, wanted = ours.double().numpy(), theirs.double().numpy()
    np.testing.assert_array_equal(got, wanted, err_msg=str(what))
    some = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got[some]), np.signbit(wanted[some]), err_msg=str(what))


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("size", SIZES)
def test_where_beside_a_number(dtype, size):
    numbers = SPECIAL if "float" in dtype else [0, 1, 2, 3, 100, 7]
    mask = np.arange(size) % 3 == 0
    for number in NUMBERS:
        results = []
        for m in (tenfold, torch):
            x, c = m.tensor(np.resize(numbers, size)).to(getattr(m, dtype)), m.tensor(mask)
            results.append([
                outcome(m.where, c, x, number), outcome(m.where, c, number, x), outcome(x.where, c, number),
                outcome(m.where, c[::2], x[::2], number), outcome(m.where, c[:, None], x[:3], number) if size < 100 else x,
            ])  # fmt: skip
        for k, (ours, theirs) in enumerate(zip(*results, strict=True)):
            alike(ours, theirs, (dtype, size, number, k))


def test_gradients_of_where_beside_a_number():
    for dtype in (*HALVES, "float32"):
        grads = []
        for m in (tenfold, torch):
            x = m.ones(2, 3).to(getattr(m, dtype)).requires_grad_()
            m.where(m.tensor([[True, False, True]]), x, 2.0).sum().backward()
            grads.append(x.grad)
        alike(*grads, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("size", SIZES)
def test_arithmetic_beside_a_number(name, dtype, size):
    for layout, part in LAYOUTS.items():
        if layout == "one" and not size:
            continue
        for number in NUMBERS[:-1]:
            for form in (name, name + "_"):
                ours, theirs = (outcome(getattr(part(x), form), number) for x in both(dtype, size))
                alike(ours, theirs, (form, dtype, size, layout, number))


@pytest.mark.parametrize("dtype", HALVES)
def test_multiples(dtype):
    x, y = (np.resize(SPECIAL, 4096), np.resize([1.0, -2.0, 0.5], 4096))
    for weight in (2, -0.5, 0.25, 0, 1, float("inf"), 1e6):
        for name in ("add", "sub", "add_", "sub_"):
            ours, theirs = (
                outcome(getattr(m.tensor(x).to(getattr(m, dtype)), name), m.tensor(y).to(getattr(m, dtype)), alpha=weight)
                for m in (tenfold, torch)
            )
            alike(ours, theirs, (name, dtype, weight))


def test_writes_are_counted_and_guarded():
    x = tenfold.ones(5000).half()
    before = x._version
    assert x.mul_(2.5) is x
    assert x.add_(0.1) is x
    assert x._version == before + 2
    leaf = tenfold.ones(5000).half().requires_grad_()
    with pytest.raises(RuntimeError, match="in-place"):
        leaf.mul_(2.5)


@pytest.mark.parametrize("dtype", HALVES)
def test_the_interpreter_is_not_asked(dtype, entered):
    x, y, mask = (
        tenfold.ones(5000).to(getattr(tenfold, dtype)),
        tenfold.ones(5000).to(getattr(tenfold, dtype)),
        tenfold.ones(5000) > 0,
    )
    calls: dict[str, Any] = {
        "where": lambda: tenfold.where(mask, x, 2.0), "mul_": lambda: x.mul_(2.5), "div_": lambda: x.div_(2.5),
        "add_": lambda: x.add_(1.1), "sub_": lambda: x.sub_(1.1), "add": lambda: x.add(y, alpha=0.1),
        "sub": lambda: x.sub(y, alpha=2),
    }  # fmt: skip
    for name, call in calls.items():
        call()
        seen = entered(call)
        assert not {"dispatch", "copy_", "_with_multiple", "serve"} & set(seen), (name, seen)
