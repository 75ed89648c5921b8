"""`assert_close` accepts, refuses and words its messages as PyTorch's does."""

from __future__ import annotations

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
    except (AssertionError, TypeError, ValueError) as error:
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


LIMITS = [(1, 1), (2, 1), (math.nan, 1), (1, math.nan), (None, math.nan), (-math.inf, math.inf), (math.inf, math.inf)]
LIMITS += [(-1e60, -1e50), (1e50, 1e60), (-300, 300)]


@pytest.mark.filterwarnings("ignore:Passing `low==high`")
@pytest.mark.parametrize("name", ["float32", "float16", "int64", "uint8", "complex64", "bool"])
@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_make_tensor_has_pytorchs_limits(name: str, low: float | None, high: float | None) -> None:
    def made(library: Any, make: Any) -> str:
        try:
            return str(tuple(make((3,), dtype=getattr(library, name), device="cpu", low=low, high=high).shape))
        except ValueError as error:
            return str(error)

    wanted = made(torch, torch.testing.make_tensor).replace("torch.", "tenfold.")
    told = made(tenfold, make_tensor).removeprefix("make_tensor: ")
    assert re.sub(r"low=-?\d+", "low=", told) == re.sub(r"low=-?\d+", "low=", wanted)  # a default that is no limit


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_numbers_rounded_up_stay_below_the_limit(dtype: str) -> None:
    made = make_tensor((4000,), dtype=getattr(tenfold, dtype), device="cpu", low=0.0, high=1.0)
    assert float(made.max()) < 1


def test_one_value_between_equal_limits_warns() -> None:
    with pytest.warns(FutureWarning, match="low==high"):
        assert make_tensor((2,), dtype=tenfold.float32, device="cpu", low=1, high=1).tolist() == [1, 1]


@pytest.mark.parametrize(("actual", "expected"), [(True, None), (None, 1.0), (None, None)])
def test_none_is_equal_to_itself_alone(actual: Any, expected: Any) -> None:
    assert outcome(assert_close, actual, expected) == outcome(torch.testing.assert_close, actual, expected)


def sparse(library: Any, places: list[int], values: list[float], layout: str) -> Any:
    made = library.sparse_coo_tensor(library.tensor([[0] * len(places), places]), library.tensor(values), (2, 3))
    return made if layout == "coo" else made.to_sparse(layout=getattr(library, f"sparse_{layout}"))


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
@pytest.mark.parametrize("other", [([0, 1], [1.0, 2.0]), ([0, 1], [1.0, 3.0]), ([0, 2], [1.0, 2.0]), ([0], [1.0])])
def test_sparse_tensors_by_what_they_store(layout: str, other: tuple[list[int], list[float]]) -> None:
    pytest.importorskip("tenfold.sparse")

    def told(library: Any, compare: Any) -> str:
        return outcome(compare, sparse(library, [0, 1], [1.0, 2.0], layout), sparse(library, *other, layout))

    assert floats(told(tenfold, assert_close)) == floats(told(torch, torch.testing.assert_close))


def floats(text: str) -> str:
    """As `rounded`, and differences of indices as numbers: they are floats here."""
    return rounded(re.sub(r"difference: (\d+)\b(?!\.)", r"difference: \1.0", text))
