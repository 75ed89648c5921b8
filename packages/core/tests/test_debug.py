"""TENFOLD_DEBUG: what the debugging layer prints and refuses."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from cells import Cells

import tenfold
from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.inspection import debug

_numbers = itertools.count()


def test_level_2_prints_calls_with_shapes_and_bodies_indented(capsys):
    x = tenfold.ones(2, 3)
    with debug.DebugLayer(2):
        tenfold.movedim(x, 0, 1) + 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("tenfold: add(float32[3, 2], 1) -> float32[3, 2] ")
    assert any(line.startswith("tenfold:   permute(float32[2, 3]") for line in lines)


def test_level_3_names_the_kernel(capsys):
    x = tenfold.ones(2, 2)
    with debug.DebugLayer(3):
        x @ x
    assert "matmul.py:" in capsys.readouterr().err


def rule_of_two(input: Any) -> tuple[Meta, Meta]:
    return pointwise(input), Meta(input.shape, np.int64)


@pytest.fixture
def planted():
    """Declares an operator with a kernel on the CPU and on the device "cells", which has no other."""
    names = []

    def plant(compute, *, results=1):
        name = f"debug_probe_{next(_numbers)}"
        names.append(name)
        if results == 1:

            @primitive("pointwise", method=None, name=name, rule=pointwise)
            def probe(input: tenfold.Tensor) -> tenfold.Tensor:
                """An operator of this test."""
        else:

            @primitive("pointwise", method=None, name=name, rule=rule_of_two)
            def probe(input: tenfold.Tensor) -> tuple[tenfold.Tensor, tenfold.Tensor]:  # type: ignore[misc]
                """An operator of this test."""

        def boxed(input):
            result = compute(input.array)
            return tuple(map(Cells, result)) if isinstance(result, tuple) else Cells(result)

        kernel(probe, device="cpu")(lambda input: compute(input))
        kernel(probe, device="cells")(boxed)
        return probe

    yield plant
    for name in names:
        for device in ("cpu", "cells"):
            KERNELS.pop((name, device))
        OPERATORS.pop(name)


def written(array):
    array[...] = 0
    return array + 1


@pytest.mark.parametrize("device", ["cpu", "cells"])
@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda a: a.astype(np.float64), r"the kernel gave float64\[2\], the shape rule says .*float32\[2\]"),
        (lambda a: a[:1].copy(), r"the kernel gave float32\[1\], the shape rule says .*float32\[2\]"),
        (lambda a: np.full_like(a, np.nan), "the result .* has NaN, the arguments have none"),
        (written, r"the kernel wrote to its argument float32\[2\]"),
    ],
    ids=["dtype", "shape", "nan", "written"],
)
def test_level_4_refuses_what_a_kernel_does_wrong(cells, planted, device, compute, words):
    probe = planted(compute)
    x = tenfold.tensor([1.0, 2.0]).to(device)
    with debug.DebugLayer(4), pytest.raises(RuntimeError, match=words):
        probe(x)


@pytest.mark.parametrize("device", ["cpu", "cells"])
def test_level_4_checks_each_of_several_results(cells, planted, device):
    x = tenfold.tensor([1.0, 2.0]).to(device)
    right = planted(lambda a: (a + 1, np.zeros(a.shape, np.int64)), results=2)
    wrong = planted(lambda a: (a + 1, np.zeros(a.shape, np.int32)), results=2)
    with debug.DebugLayer(4):
        right(x)
        with pytest.raises(RuntimeError, match="the shape rule says"):
            wrong(x)


def test_level_4_lets_meant_writes_and_nan_of_nan_pass():
    x = tenfold.tensor([1.0, math.nan])
    with debug.DebugLayer(4):
        x.add_(1).mul_(x)
        x.exp()
        tenfold.add(x, 1, out=x)
        tenfold.nonzero(x)
        x[0] = 2.0
        tenfold.ones(3).to(tenfold.int64).sum()
        tenfold.rand(3).bernoulli_(0.5)
        x.view(2, 1).copy_(tenfold.ones(2, 1))
        (tenfold.ones(2, 3) @ tenfold.ones(3, 2)).max(1)
    with debug.DebugLayer(4), pytest.raises(RuntimeError, match=r"log: the result .* has NaN, the arguments have none"):
        tenfold.log(tenfold.tensor([-1.0]))


def test_the_environment_variable():
    code = "import tenfold; tenfold.ones(2) + 1"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TENFOLD_DEBUG": "2"}, capture_output=True, text=True, check=True
    )
    assert "tenfold: add(float32[2], 1) -> float32[2]" in run.stderr
