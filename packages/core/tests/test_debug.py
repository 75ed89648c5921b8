"""TENFOLD_DEBUG: what the debugging layer prints and refuses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tenfold
from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.operators import primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.layers import debug


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


def test_level_4_refuses_what_disagrees_with_the_rule_and_new_nan():
    @primitive("pointwise", method=None, name="wrong_dtype_probe", rule=pointwise)
    def probe(input: tenfold.Tensor) -> tenfold.Tensor:
        """An operator of this test."""

    kernel(probe, device="cpu")(lambda input: input.astype("float64"))
    try:
        with (
            debug.DebugLayer(4),
            pytest.raises(RuntimeError, match=r"wrong_dtype_probe: the kernel gave float64\[2\].*float32\[2\]"),
        ):
            probe(tenfold.ones(2))
        with debug.DebugLayer(4), pytest.raises(RuntimeError, match=r"log: the result .* has NaN, the arguments have none"):
            tenfold.log(tenfold.tensor([-1.0]))
    finally:
        KERNELS.pop(("wrong_dtype_probe", "cpu"))


def test_the_environment_variable():
    code = "import tenfold; tenfold.ones(2) + 1"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TENFOLD_DEBUG": "2"}, capture_output=True, text=True, check=True
    )
    assert "tenfold: add(float32[2], 1) -> float32[2]" in run.stderr
