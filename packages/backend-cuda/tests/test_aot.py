"""Ahead-of-time compilation, in processes of its own: this one interprets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tenfold.cuda import aot
from tenfold.cuda.kernels.formulas import FORMULAS

HANDFUL = ("floor_divide", "where", "gelu_backward", "isnan")


def compiled(cache, *arguments):
    pytest.importorskip("triton")
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | {"TRITON_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "tenfold.cuda.aot", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=100)


def test_a_handful_compiles_for_ampere_and_hopper(compiled_kernels):
    done = compiled(compiled_kernels, *HANDFUL, "--sm", "80", "90", "--dtypes", "float32", "bfloat16")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "36 kernels compiled, 0 failed" in done.stdout


def test_wider_and_narrower_types_compile(compiled_kernels):
    done = compiled(
        compiled_kernels, "mul", "reciprocal", "remainder", "sign", "cast", "--sm", "90", "--dtypes", "float64", "int64", "bool"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="with a GPU this process compiles")
def test_a_kernel_that_does_not_compile_is_counted(capsys):
    # A process that interprets cannot compile, which is one way to fail.
    assert aot.main(["add", "--sm", "90", "--dtypes", "float32"]) == 1
    assert "this process interprets kernels" in (text := capsys.readouterr().out)
    assert "0 kernels compiled, 3 failed" in text


def test_every_formula_has_variants():
    assert {v.kernel.formula for v in aot.variants()} == set(FORMULAS)


def test_half_precision_that_meets_a_number_has_variants():
    for name in ("eq", "mul"):
        found = [v.kernel for v in aot.variants([name], ["bfloat16"]) if "number" in v.kernel.reads]
        assert [k.reads for k in found] == [("linear", "linear", "number")]
        assert ("y = y.to(x_ptr.dtype.element_ty)" in found[0].source()) == (name == "eq")  # which compares with what x can be


def test_arguments_and_types_match():
    for v in aot.variants():
        assert len(v.signature) == len(v.kernel.arguments()), v.kernel.name
        compile(v.kernel.source(), v.kernel.name, "exec")
