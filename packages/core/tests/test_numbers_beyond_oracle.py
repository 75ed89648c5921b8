"""Numbers beyond a dtype's range beside tensors: which are refused, how, and what the others become, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

PROGRAMS: dict[str, Any] = {
    "add": lambda t, x, n: x + n,
    "reflected sub": lambda t, x, n: n - x,
    "mul": lambda t, x, n: x * n,
    "div": lambda t, x, n: x / n,
    "floor_divide": lambda t, x, n: x // n,
    "remainder": lambda t, x, n: x % n,
    "fmod": lambda t, x, n: x.fmod(n),
    "pow": lambda t, x, n: x.pow(n),
    "eq": lambda t, x, n: x.eq(n),
    "less": lambda t, x, n: x < n,
    "mul_": lambda t, x, n: x.mul_(n),
    "where": lambda t, x, n: t.where(x > 0, x, n),
    "lerp": lambda t, x, n: x.lerp(x, n),
    "fill_": lambda t, x, n: x.fill_(n),
    "full": lambda t, x, n: t.full((2,), n, dtype=x.dtype),
    "new_full": lambda t, x, n: x.new_full((2,), n),
    "masked_fill": lambda t, x, n: x.masked_fill(x > 0, n),
    "clamp": lambda t, x, n: x.clamp(max=n),
}


def outcome(t: Any, program: Any, dtype: str, number: Any) -> Any:
    """The result's dtype and elements, or the type of the error."""
    try:
        result = program(t, t.ones(2, dtype=getattr(t, dtype)), number)
    except (TypeError, RuntimeError, OverflowError) as error:
        return type(error)
    return str(result.dtype).split(".")[-1], str(result.tolist())


@pytest.mark.parametrize("number", [1e39, -1e39, 70000.0, 10**39, -(10**39), 2**40], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_number(name: str, dtype: str, number: Any) -> None:
    result, expected = (outcome(t, PROGRAMS[name], dtype, number) for t in (tenfold, torch))
    assert result == expected
