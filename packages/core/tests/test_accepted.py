"""Accepted dtypes are declared once and hold before any kernel runs: on every device, in every form of call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cells import Cells, Plugin

import tenfold
from tenfold import plugins
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.kernels import KERNELS, drop, kernel
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor

calls: list[str] = []


@pytest.fixture(scope="module", autouse=True)
def device():
    plugins.register(Plugin(), "cells")
    yield
    drop("cells")
    plugins.unregister("cells")


@pytest.fixture(scope="module")
def probe():
    @primitive(
        "pointwise", name="accepted_probe", method=True, inplace=True, out=True, promote="common", rule=pointwise,
        accepts="integer floating",
    )  # fmt: skip
    def probe(input: Tensor, other: Tensor) -> Tensor:
        """An operator of these tests."""

    def on_cpu(input: Any, other: Any, out: Any = None) -> Any:
        calls.append("cpu")
        return np.add(input, other, out=out)

    kernel(probe, device="cpu", into=True)(on_cpu)
    kernel(probe, device="cells")(lambda input, other: calls.append("cells") or Cells(input.array + other.array))
    yield probe
    KERNELS.pop(("accepted_probe", "cpu"))
    for name in ("accepted_probe", "accepted_probe_"):
        OPERATORS.pop(name)
        delattr(Tensor, name)


@pytest.mark.parametrize("dtype", ["bool", "complex64"])
@pytest.mark.parametrize("where", ["cpu", "meta", "cells"])
@pytest.mark.parametrize(
    "form",
    [
        lambda f, x: f(x, x),
        lambda f, x: x.accepted_probe(x),
        lambda f, x: x.accepted_probe_(x),
        lambda f, x: f(x, x, out=tenfold.empty_like(x)),
        lambda f, x: f(x, tenfold.zeros((), dtype=x.dtype, device=x.device)),
    ],
)
def test_refused_before_a_kernel_runs(probe, dtype, where, form):
    x = tenfold.zeros(3, dtype=getattr(tenfold, dtype)).to(where)
    for _ in range(2):  # on the path of the first call, and on that of the later ones
        calls.clear()
        with pytest.raises(
            NotImplementedError, match=f'"accepted_probe" not implemented for .*: got {dtype}, accepted are integer'
        ):
            form(probe, x)
        assert not calls


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("where", ["cpu", "cells"])
def test_accepted_dtypes_reach_the_kernel(probe, dtype, where):
    x = tenfold.ones(3, dtype=getattr(tenfold, dtype)).to(where)
    for _ in range(2):
        calls.clear()
        assert (probe(x, x).cpu() == 2).all()
        assert calls == [where]


def test_what_promotion_makes_of_them_counts(probe):
    x = tenfold.ones(2, dtype=tenfold.bool)
    assert probe(x, tenfold.ones(2)).dtype is tenfold.float32
    with pytest.raises(NotImplementedError):
        probe(tenfold.ones(2), tenfold.ones(2, dtype=tenfold.complex64))


def test_a_composite_refuses_before_its_body():
    @composite("pointwise", name="accepted_body_probe", method=None, accepts={"input": "floating"})
    def probe(input: Tensor, positions: Tensor) -> Tensor:
        """An operator of this test."""
        calls.append("body")
        return input

    calls.clear()
    positions = tenfold.tensor([0])
    try:
        for device in ("cpu", "meta"):
            with pytest.raises(NotImplementedError, match="'Long'"):
                probe(tenfold.ones(2, dtype=tenfold.int64, device=device), positions.to(device))
        assert not calls
        probe(tenfold.ones(2), positions)
        assert calls == ["body"]
    finally:
        OPERATORS.pop("accepted_body_probe")


def test_the_error_and_its_words_may_be_declared():
    for call in (lambda x: x - x, lambda x: x.sub_(x), lambda x: tenfold.sub(x, x, out=x)):
        with pytest.raises(RuntimeError, match="two bool tensors is not supported"):
            call(tenfold.ones(2, dtype=tenfold.bool))
    refused = Only("floating", ValueError, "{name} of {dtype}").refusal("probe", tenfold.int8)
    assert type(refused) is ValueError
    assert str(refused) == "probe of int8"


def test_every_refusal_of_the_declarations_holds_on_meta_as_on_the_cpu():
    plugins.load_operators()
    for operator in [*OPERATORS.values()]:
        tensors = [p for p in operator.params if p.role in ("tensor", "number", "optional", "list")]
        if not operator.accepts or len(tensors) != 1 or operator.promote or operator.inplace_of or operator.overload_body:
            continue
        if any(p.default is p.default and str(p.default).endswith("_empty'>") for p in operator.params if p not in tensors):
            continue
        for dtype in set(tenfold.types.dtypes.ALL[:13]) - set(operator.accepts[tensors[0].name].accepted):
            found = []
            for device in ("cpu", "meta"):
                with pytest.raises((RuntimeError, NotImplementedError)) as caught:
                    operator.fn(tenfold.empty(2, 2, dtype=dtype, device=device))
                found.append((type(caught.value), str(caught.value)))
            assert found[0] == found[1], operator.name
