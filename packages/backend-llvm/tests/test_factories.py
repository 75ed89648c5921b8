"""Factories by native code: what the interpreter makes, and when it is asked."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(
    session() is None or not call_paths.possible(), reason="call paths are native from Python 3.12 on, with compiled kernels"
)
SIZES = [(4,), (3, 5), (64, 64), (1, 1, 1), (2, 3, 4, 5), (130,), (17,), (0,), (3, 0), (200, 200), ()]
VALUES = [2.0, 0.0, -0.0, 1, True, 1e39, float("nan"), float("inf"), -1.5, 1j, "a", None, 1e-46]
CALLS = {
    **{f"{n} {size}": lambda n=n, size=size: getattr(tenfold, n)(*size) for n in ("zeros", "ones") for size in SIZES},
    **{f"{n} {size} whole": lambda n=n, s=size: getattr(tenfold, n)(s) for n in ("zeros", "ones") for size in SIZES},
    **{f"full {size} {v}": lambda s=size, v=v: tenfold.full(s, v) for size in SIZES for v in VALUES},
    "size": lambda: tenfold.ones(tenfold.zeros(2, 3).shape),
    "list": lambda: tenfold.zeros([2, 3]),
    "dtype": lambda: tenfold.ones(2, dtype=tenfold.int64),
    "negative": lambda: tenfold.zeros(-1),
    "float": lambda: tenfold.ones(2.0),
    "none": lambda: tenfold.zeros(),
    "bool": lambda: tenfold.ones(True),
    "requires_grad": lambda: tenfold.ones(2, requires_grad=True),
    "name": lambda: tenfold.zeros(size=(2,)),
    "large": lambda: tenfold.zeros(1 << 62),
    "full by number": lambda: tenfold.full(3, 2.0),
    "full of one": lambda: tenfold.full((3,)),
    "mixed": lambda: tenfold.zeros((2,), 3),
}
LIKE = {
    "float": lambda: tenfold.randn(3, 4),
    "double": lambda: tenfold.randn(3, 4).double(),
    "half": lambda: tenfold.ones(3).half(),
    "whole": lambda: tenfold.arange(4),
    "strided": lambda: tenfold.randn(4, 6)[:, ::2],
    "turned": lambda: tenfold.randn(3, 4).t(),
    "empty": lambda: tenfold.zeros(0, 2),
    "number": lambda: tenfold.tensor(1.0),
    "recorded": lambda: tenfold.ones(2, requires_grad=True) * 2,
    "parameter": lambda: nn.Parameter(tenfold.ones(3)),
    "meta": lambda: tenfold.ones(2, device="meta"),
    "none": lambda: None,
    "large": lambda: tenfold.zeros(200, 200),
}


@pytest.fixture(autouse=True)
def _loaded():
    tenfold.ones(2) + tenfold.ones(2)


def outcome(call):
    try:
        made = call()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    values = None if made.device.type == "meta" else made.detach().numpy()
    return values, (type(made), made.dtype, made.shape, made.stride(), made.requires_grad, made.device, made._version)


def same(call, values=True):
    got = outcome(call)
    with session().paths.suspended():
        expected = outcome(call)
    assert got[1] == expected[1]
    if isinstance(got[0], np.ndarray) and values:
        assert got[0].tobytes() == expected[0].tobytes()
    elif values:
        assert got[0] is expected[0]


@pytest.mark.parametrize("name", list(CALLS))
def test_shapes(name):
    same(CALLS[name])


@pytest.mark.parametrize("like", list(LIKE))
def test_after_a_tensor(like):
    x = LIKE[like]()
    same(lambda: tenfold.zeros_like(x))
    same(lambda: tenfold.ones_like(x))
    same(lambda: tenfold.empty_like(x), values=False)
    same(lambda: tenfold.zeros_like(x, dtype=tenfold.int64))
    same(lambda: tenfold.zeros_like(input=x))
    for value in VALUES:
        same(lambda value=value: tenfold.full_like(x, value))


def test_defaults_are_asked_each_time():
    tenfold.set_default_dtype(tenfold.float64)
    try:
        assert tenfold.zeros(2).dtype is tenfold.float64
        assert tenfold.full((2,), 1.0).dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(tenfold.float32)
    with tenfold.device("meta"):
        assert tenfold.ones(2).device.type == "meta"
    with tenfold.inference_mode():
        assert tenfold.ones(2).is_inference()
        assert tenfold.zeros_like(tenfold.ones(2)).is_inference()
    with tenfold.no_grad():
        assert tenfold.ones(2).tolist() == [1, 1]
    tenfold.use_deterministic_algorithms(True)
    try:
        assert tenfold.empty(3).isnan().all()
        assert tenfold.empty_like(tenfold.ones(3)).isnan().all()
    finally:
        tenfold.use_deterministic_algorithms(False)
    assert tenfold.func.vmap(lambda row: row + tenfold.ones(3))(tenfold.zeros(2, 3)).tolist() == [[1.0] * 3] * 2


def test_what_is_made_can_be_used_as_any_other():
    x = tenfold.zeros(3)
    x.name = "mine"
    x.requires_grad_()
    (x + 1).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    assert tenfold.ones(2, 3).numpy().flags.writeable


def test_a_collection_of_garbage_makes_one_call_slower(entered):
    tenfold.randn(3)
    for call in (lambda: tenfold.randn(3), lambda: tenfold.ones(3), lambda: tenfold.zeros(3)):
        call()
        gc.collect()
        call()
        assert entered(call) == ["<lambda>"]
