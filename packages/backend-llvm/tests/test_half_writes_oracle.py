"""Half precision written in place: PyTorch's numbers, what the interpreter's path makes of it, and that it is not asked."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from compared_calls import refused_alike

import tenfold

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on"),
    pytest.mark.filterwarnings("ignore"),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 255.0, 65504.0, np.inf, -np.inf, np.nan, 1e-7, 3.0, -2.5, 0.3]
HALVES = ("float16", "bfloat16")
ALONE = ("relu_", "neg_", "abs_", "sqrt_", "square_", "floor_", "ceil_", "trunc_", "round_", "sign_", "reciprocal_", "frac_")
ROUNDED = ("sigmoid_", "tanh_", "exp_", "sin_", "log1p_", "erf_")
WEIGHTS = (0.1, 0.5, 1, 0, -3, 2.0, float("inf"), float("nan"), 1e-50, 3e38, 1e40, 2**70, True)
LAYOUTS: dict[str, Any] = {
    "in a row": lambda x: x,
    "turned": lambda x: x.view(3, 14).t(),
    "channels last": lambda x: x.view(1, 3, 7, 2).contiguous() if x.dim() > 1 else x.view(1, 7, 2, 3).permute(0, 3, 1, 2),
    "strided": lambda x: x[::2],
    "a part": lambda x: x[3:20],
    "none": lambda x: x[:0],
    "one": lambda x: x[0],
    "expanded": lambda x: x[:1].expand(4),
}


def both(dtype: str, turn: int = 0) -> tuple[Any, Any]:
    numbers = np.roll(np.resize(SPECIAL, 42), turn)
    return tuple(m.tensor(numbers).to(getattr(m, dtype)) for m in (tenfold, torch))


def outcome(call: Any, tensor: Any, *rest: Any) -> Any:
    """What a write leaves in all of a tensor's memory, and how often it was counted; or the error."""
    try:
        before = tensor._version
        made = call(tensor, *rest)
    except Exception as error:  # noqa: BLE001 - compared
        return error
    whole = tensor if tensor._base is None else tensor._base
    return made is tensor, tensor._version - before, str(made.dtype).split(".")[1], whole.detach().double().numpy().copy()


def alike(ours: Any, theirs: Any, what: Any, zeros: bool = True) -> None:
    if refused_alike(ours, theirs, what):
        return
    assert ours[:3] == theirs[:3], what
    np.testing.assert_array_equal(ours[3], theirs[3], err_msg=str(what))
    some = ~np.isnan(theirs[3]) & zeros
    np.testing.assert_array_equal(np.signbit(ours[3][some]), np.signbit(theirs[3][some]), err_msg=str(what))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ALONE)
def test_rounded_once(name, dtype):
    for layout, part in LAYOUTS.items():
        ours, theirs = (outcome(lambda t: getattr(t, name)(), part(x)) for x in both(dtype))
        alike(ours, theirs, (name, dtype, layout))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ROUNDED)
def test_as_where_it_makes_a_tensor(name, dtype):
    for layout, part in LAYOUTS.items():
        x, y = part(both(dtype)[0]), part(both(dtype)[0])
        if layout != "expanded":
            found = outcome(lambda t: getattr(t, name)(), x), outcome(lambda t: t.copy_(getattr(t, name[:-1])()), y)
            alike(*found, (name, layout))


@pytest.mark.parametrize("dtype", HALVES)
def test_lerp(dtype):
    """A weight need not be a number that half precision holds. PyTorch's zeros have one sign in vectors, another behind them."""
    for weight in WEIGHTS:
        for layout, part in LAYOUTS.items():
            for call in (lambda t, end, w=weight: t.lerp_(end, w), lambda t, end, w=weight: t.copy_(t.lerp(end, w))):
                pairs = zip(both(dtype), both(dtype, 5), strict=True)
                alike(*(outcome(call, part(x), part(end)) for x, end in pairs), (dtype, weight, layout), zeros=False)


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_"])
def test_beside_a_wider_tensor(name):
    """It wins while they are computed; what is written is rounded once."""
    dtypes = ("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8", "bool")
    for one in dtypes:
        for other in dtypes:
            for layout, part in LAYOUTS.items():
                for rest in (lambda y: y, lambda y: y[:1] if y.dim() else y, lambda y: y.expand(2, *y.shape)):
                    pairs = zip(both_of(one), both_of(other, 5), strict=True)
                    found = [outcome(lambda t, s: getattr(t, name)(s), part(x), rest(part(y))) for x, y in pairs]
                    alike(*found, (name, one, other, layout))


def both_of(dtype: str, turn: int = 0) -> tuple[Any, Any]:
    if "float" in dtype:
        return both(dtype, turn)
    numbers = np.roll(np.resize([0, 1, 2, 3, 100, 7], 42), turn)
    return tuple(m.tensor(numbers).to(getattr(m, dtype)) for m in (tenfold, torch))


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_pass(dtype):
    """What is recorded goes the ordinary way; a leaf is refused."""
    for call in (
        lambda t, s: t.relu_(), lambda t, s: t.lerp_(s, 0.3), lambda t, s: t.mul_(s.float()), lambda t, s: t.add_(s.float()),
    ):  # fmt: skip
        for leaf in (True, False):
            found = []
            for m in (tenfold, torch):
                x, s = (m.tensor([0.5, -1.5, 3.0]).to(getattr(m, dtype)).requires_grad_() for _ in range(2))
                try:
                    call(x if leaf else x * 2, s).sum().backward()
                    found.append([None if t.grad is None else t.grad.double().tolist() for t in (x, s)])
                except RuntimeError:
                    found.append("refused")
            assert found[0] == found[1], (dtype, leaf)


@pytest.mark.parametrize("dtype", HALVES)
def test_the_interpreter_is_not_asked(dtype, entered):
    x, y = both(dtype)[0], both(dtype, 3)[0]
    calls = [getattr(x, name) for name in (*ALONE, *ROUNDED)]
    for call in (*calls, partial(x.lerp_, y, 0.1), partial(x.lerp, y, 0.1)):
        for _ in range(600):  # after 500 those are compiled that NumPy has, too
            call()
        assert entered(call) == []


@pytest.mark.parametrize("dtype", HALVES)
def test_a_wider_tensor_does_not_go_the_ordinary_way(dtype, entered):
    x, y = both(dtype)[0], both("float32", 3)[0]
    for call in (lambda: x.add_(y), lambda: x.mul_(y), lambda: x.__iadd__(y)):
        call()
        assert "dispatch" not in entered(call)
