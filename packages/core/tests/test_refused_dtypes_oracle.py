"""Multipliers and dtypes that PyTorch refuses."""

from __future__ import annotations

import itertools

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _outcome(call):
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - its type is what is compared
        return type(error).__name__
    return str(result.dtype).split(".")[1], result.tolist()


@pytest.mark.parametrize("alpha", [True, False, 2, 1.5, 1j])
@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
def test_multipliers(name, alpha):
    for dtype, number in itertools.product(("float32", "int64", "bool", "complex64"), (True, False)):

        def call(m, dtype=dtype, number=number):
            x = m.ones(2, dtype=getattr(m, dtype))
            return lambda: getattr(x, name)(1 if number else x.clone(), alpha=alpha)

        assert _outcome(call(tenfold)) == _outcome(call(torch)), (dtype, number)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_the_dtype_of_a_norm_holds_the_input(dtype):
    for given in ("int64", "bool", "float16", "float32", "float64", "complex64"):

        def calls(m, given=given):
            x, wanted = m.ones(4).to(getattr(m, given)), getattr(m, dtype)
            yield lambda: x.norm(dtype=wanted)
            yield lambda: m.norm(x, 3, 0, dtype=wanted).round()
            yield lambda: m.linalg.vector_norm(x, dtype=wanted)

        for ours, theirs in zip(calls(tenfold), calls(torch), strict=True):
            assert _outcome(ours) == _outcome(theirs), given
