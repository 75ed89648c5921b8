"""`assert_close` accepts, refuses and words its messages as PyTorch's does."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.testing import assert_close, make_tensor

torch = pytest.importorskip("torch")

PAIRS: list[tuple[Any, Any, dict[str, Any]]] = [
    ([1.0, 2.0], [1.0, 2.0], {}),
    ([1.0, 2.0], [1.0, 2.5], {}),
    ([1.0, 2.0], [1.0, 2.5], {"rtol": 0.1, "atol": 0.5}),
    ([1, 2, 3], [1, 5, 3], {}),
    ([True, False], [True, True], {}),
    ([[1.0, 2.0]], [[1.0], [2.0]], {}),
    (1.0, 1.5, {}),
    (1, 2, {}),
    ([1.0], [1], {}),
    ([1.0], [1], {"check_dtype": False}),
    ([math.nan], [math.nan], {}),
    ([math.nan], [math.nan], {"equal_nan": True}),
    ([math.inf], [math.inf], {}),
    ([math.inf], [-math.inf], {}),
    ([1.0, 0.0], [1.0, 1e-6], {}),
    ([1 + 2j], [1 + 3j], {}),
    ([0.0, 2.0], [0.0, 0.0], {}),
    ([1.0 + 1e-6], [1.0], {}),
    ([1.0 + 1e-5], [1.0], {}),
    ([0, 255], [1, 255], {}),
]


def outcome(compare: Any, actual: Any, expected: Any, **options: Any) -> str:
    try:
        compare(actual, expected, **options)
    except (AssertionError, TypeError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}".replace("torch.", "tenfold.")
    return "accepted"


@pytest.mark.parametrize(("actual", "expected", "options"), PAIRS)
def test_tensors(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    ours = outcome(assert_close, tenfold.tensor(actual), tenfold.tensor(expected), **options)
    theirs = outcome(torch.testing.assert_close, torch.tensor(actual), torch.tensor(expected), **options)
    assert rounded(ours) == rounded(theirs)


def rounded(text: str) -> str:
    """Numbers to six digits: the differences are computed in float64 here, in the dtype itself there."""
    return re.sub(r"\d+\.\d+(e-?\d+)?|\d+e-\d+", lambda m: f"{float(m[0]):.5g}", text)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1.0, 1.0),
        (1.0, 1.1),
        (1, 2),
        (True, False),
        (1.0, 1),
        ([1.0, 2.0], [1.0, 3.0]),
        ([1.0], [1.0, 2.0]),
        ({"a": 1.0}, {"a": 2.0}),
        ({"a": 1.0}, {"b": 1.0}),
        ([{"a": (1.0, 2.0)}], [{"a": (1.0, 2.5)}]),
        (None, None),
        (0.0, 1e-8),
        (1.0, 0.0),
    ],
)
def test_numbers_and_collections(actual: Any, expected: Any) -> None:
    ours, theirs = outcome(assert_close, actual, expected), outcome(torch.testing.assert_close, actual, expected)
    assert rounded(ours) == rounded(theirs)


@pytest.mark.parametrize("pair", [([1, 2], [1, 4]), ([True, False], [True, True]), (1, 4), ([2**62, 0], [-(2**61), 0])])
def test_integers_are_apart_by_integers(pair: Any) -> None:
    told = []
    for compare, engine in ((assert_close, tenfold), (torch.testing.assert_close, torch)):
        text = outcome(compare, *(engine.tensor(v) for v in pair))
        told.append([line.split("Rel")[0] for line in text.split("\n") if "bsolute" in line])
    assert told[0] == told[1] != []


def leaves(engine: Any) -> list[Any]:
    numbers = [1, 1.0, 1 + 0j, True, np.float64(1), np.float32(1), np.int64(1), np.bool_(True), np.complex128(1)]
    tensors = [engine.tensor(1.0), engine.tensor(1), engine.nn.Parameter(engine.tensor(1.0)), np.ones(()), np.ones((), "u2")]
    others = [
        None,
        "a",
        b"a",
        np.array("a"),
        [1.0],
        (1.0,),
        {"a": 1.0},
        {1},
        range(1, 2),
        [engine.tensor(1.0)],
        [np.ones(())],
        [],
    ]
    return [*numbers, *tensors, *others, engine.Size([1]), engine.float32, engine.device("cpu")]


@pytest.mark.parametrize("options", [{}, {"allow_subclasses": False}, {"check_dtype": False}])
def test_what_compares_with_what(options: dict[str, Any]) -> None:
    ours, theirs = leaves(tenfold), leaves(torch)
    for i, j in itertools.product(range(len(ours)), repeat=2):
        got = outcome(assert_close, ours[i], ours[j], **options)
        wanted = outcome(torch.testing.assert_close, theirs[i], theirs[j], **options)
        assert got.split("\n")[0][:45] == wanted.split("\n")[0][:45], (ours[i], ours[j])


def test_a_type_is_refused_before_a_value_is_compared() -> None:
    for compare, engine in ((assert_close, tenfold), (torch.testing.assert_close, torch)):
        with pytest.raises(TypeError, match=r"(?s)No comparison pair.*item \[1\]"):
            compare([1.0, engine.tensor(1.0)], [2.0, 1.0])


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int32", "uint8", "bool"]
)
@pytest.mark.parametrize("factor", [1e-8, 1e-6, 3e-6, 1e-4, 2e-3, 2e-2])
def test_default_tolerances(dtype: str, factor: float) -> None:
    a, b = tenfold.tensor([1.0]), tenfold.tensor([1.0 + factor], dtype=tenfold.float64)
    ours = outcome(assert_close, a.to(getattr(tenfold, dtype)), b.to(getattr(tenfold, dtype)))
    a, b = torch.tensor([1.0]), torch.tensor([1.0 + factor], dtype=torch.float64)
    theirs = outcome(torch.testing.assert_close, a.to(getattr(torch, dtype)), b.to(getattr(torch, dtype)))
    assert ours.split(":")[0] == theirs.split(":")[0]


def test_strides_and_messages() -> None:
    a = tenfold.ones(2, 3)
    b = tenfold.ones(3, 2).transpose(0, 1)
    assert_close(a, b)
    with pytest.raises(AssertionError, match=r"stride\(\)"):
        assert_close(a, b, check_stride=True)
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(a, a + 1, msg="mine")
    with pytest.raises(AssertionError, match=r"^# Tensor-likes"):
        assert_close(a, a + 1, msg=lambda text: "# " + text)
    with pytest.raises(ValueError, match="rtol and atol must both"):
        assert_close(a, a, rtol=1.0)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close("a", "a")


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "complex64", "int64", "uint8", "bool"])
def test_make_tensor_has_pytorchs_range(name: str) -> None:
    ours = make_tensor(400, dtype=getattr(tenfold, name), device="cpu")
    theirs = torch.testing.make_tensor(400, dtype=getattr(torch, name), device="cpu")
    low, high = bounds(ours.to(tenfold.complex128).numpy()), bounds(theirs.to(torch.complex128).numpy())
    assert np.allclose(low, high, atol=0.6)


def bounds(array: Any) -> Any:
    return np.array([array.real.min(), array.real.max(), array.imag.min(), array.imag.max()])
