"""Operators' functions as objects: the source of their code, pickles, and the first call beside the later ones."""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.dispatch import agreement
from tenfold.dispatch.operators import OPERATORS, Data, composite, reset_code
from tenfold.dispatch.runtime import Layer
from tenfold.plugins import load_operators


def test_the_source_is_there_before_the_first_call_and_stays():
    reset_code(tenfold.op.exp)
    before = str(tenfold.exp.source)
    assert before.startswith("def exp(input, *, out=None):")
    assert tenfold.exp.source[:7] == "def exp"
    tenfold.exp(tenfold.ones(2))
    assert str(tenfold.exp.source) == before


def test_operators_and_their_functions_are_pickled_by_name():
    load_operators()
    for operator in OPERATORS.values():
        if (operator.declared.__module__ or "").startswith("tenfold."):
            assert pickle.loads(pickle.dumps(operator)) is operator
            assert pickle.loads(pickle.dumps(operator.fn)) is operator.fn, operator.name


@pytest.mark.parametrize("called_before", [False, True])
def test_python_operators_are_pickled_by_name(called_before):
    code = """
import pickle, tenfold
x = tenfold.ones(2)
add = tenfold.Tensor.__add__
if CALLED: x + x
assert pickle.loads(pickle.dumps(tenfold.Tensor.__add__)) is add is tenfold.Tensor.__add__
x + x
assert tenfold.Tensor.__add__ is add
assert (pickle.loads(pickle.dumps(x.__add__))(x) == 2).all() and (pickle.loads(pickle.dumps(x.mul_))(3) == 3).all()
"""
    subprocess.run([sys.executable, "-c", code.replace("CALLED", str(called_before))], check=True)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("mm", lambda: tenfold.mm(tenfold.ones(2), tenfold.ones(3))),
        ("add", lambda: tenfold.add(tenfold.ones(2), tenfold.ones(3))),
        ("mul_", lambda: tenfold.ones(2).mul_(tenfold.ones(3))),
        ("matmul", lambda: tenfold.matmul(tenfold.ones(2), tenfold.ones(3))),
        ("floor", lambda: tenfold.floor(tenfold.ones(2, dtype=tenfold.complex64))),
    ],
)
def test_the_traceback_of_the_first_call_is_that_of_the_second(name, call):
    def frames():
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            call()
        return str(caught.value), [(f.name, f.filename) for f in traceback.extract_tb(caught.value.__traceback__)]

    for operator in (OPERATORS[name], OPERATORS[name.rstrip("_")]):
        operator.calls.kernels.clear()
        reset_code(operator)
    assert frames() == frames()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tenfold.ones(2) + tenfold.ones(3), "add: The size of tensor a"),
        (lambda: tenfold.ones(2).mul_(tenfold.ones(3)), "mul: The size of tensor a"),
        (lambda: tenfold.ones(2, device="meta") * tenfold.ones(3, device="meta"), "mul: The size of tensor a"),
        (lambda: tenfold.ones(2) < tenfold.ones(3), "lt: The size of tensor a"),
    ],
)
def test_errors_name_one_operator(call, words):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).startswith(words)


def test_an_operator_that_takes_no_tensor_has_one_line():
    assert tenfold.op.empty.fn.source.splitlines()[-1] != ""
    for operator in OPERATORS.values():
        lines = str(operator.fn.source).partition("\n\n")[0].splitlines()
        returned = [line.strip() for line in lines if line.strip().startswith("return dispatch(")]
        assert not (returned and lines[-1].strip() == returned[0] and len(returned) > 1), operator.name


@composite("creation", method=None)
def kinds_of(data: Any, kept: Data) -> Any:
    """The types of two arguments as the body gets them."""
    return type(data).__name__, type(kept).__name__


class Passing(Layer):
    """Calls the operator, by way of the full dispatch."""

    def handle(self, operator: Any, args: Any, kwargs: Any) -> Any:
        return operator(*args, **kwargs)


def test_numpys_numbers_keep_their_dtype_where_the_declaration_says_data():
    with Passing():
        assert kinds_of(np.float32(1), np.float32(1)) == ("float", "float32")
        assert tenfold.tensor(np.int8(1)).dtype is tenfold.int8


def test_a_long_list_of_tensors_is_gone_through_once(monkeypatch):
    seen = []
    cast = agreement.cast
    monkeypatch.setattr(agreement, "cast", lambda tensor, target: seen.append(1) or cast(tensor, target))
    mixed = [tenfold.ones(1), *[tenfold.ones(1, dtype=tenfold.int32)] * 99]
    assert tenfold.cat(mixed).dtype is tenfold.float32
    assert len(seen) == 100
