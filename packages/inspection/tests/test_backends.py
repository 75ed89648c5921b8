"""PyTorch's switches for its libraries, and its questions about an accelerator."""

from __future__ import annotations

import importlib

import pytest

import tenfold
from tenfold.backends import cuda


@pytest.mark.parametrize("name", ["cudnn", "mkl", "mkldnn", "mps", "cuda", "openmp", "opt_einsum", "cpu"])
def test_backends_are_modules(name: str) -> None:
    assert importlib.import_module(f"tenfold.backends.{name}") is getattr(tenfold.backends, name)


def test_switches_have_other_values_in_a_context() -> None:
    cudnn = tenfold.backends.cudnn
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32) == (True, False, False, True)
    with cudnn.flags(deterministic=True):  # what is not named has a value of its own, as in PyTorch
        assert (cudnn.enabled, cudnn.deterministic) == (False, True)
    assert cudnn.enabled
    assert not cudnn.deterministic
    assert (cudnn.version() is None) is not cudnn.is_available()


def test_preferred_libraries():
    assert cuda.preferred_linalg_library() == "default"
    assert cuda.preferred_linalg_library("magma") == "magma" == cuda.preferred_linalg_library()
    with pytest.raises(RuntimeError, match="Choose from: default, cusolver, magma"):
        cuda.preferred_linalg_library("lapack")
    cuda.preferred_linalg_library("default")


def test_the_first_lines_of_many_programs() -> None:
    assert not tenfold.backends.mps.is_available()
    tenfold.backends.cudnn.benchmark = tenfold.backends.cuda.matmul.allow_tf32 = True
    tenfold.backends.cudnn.benchmark = tenfold.backends.cuda.matmul.allow_tf32 = False
    assert tenfold.accelerator.is_available() == (tenfold.accelerator.current_accelerator() is not None)
    assert tenfold.__config__.show().startswith("Tenfold")


def test_one_switch_of_tensor_float_32() -> None:
    matmul = cuda.matmul
    before = tenfold.get_float32_matmul_precision()
    try:
        for level, allowed in (("high", True), ("medium", True), ("highest", False)):
            tenfold.set_float32_matmul_precision(level)
            assert (matmul.allow_tf32, matmul.fp32_precision) == (allowed, "tf32" if allowed else "ieee")
        matmul.allow_tf32 = True
        assert tenfold.get_float32_matmul_precision() == "high"
        matmul.allow_tf32 = False
        assert tenfold.get_float32_matmul_precision() == "highest"
        matmul.fp32_precision = "tf32"
        assert matmul.allow_tf32
        with pytest.raises(RuntimeError, match="expects a bool, but got int"):
            matmul.allow_tf32 = 1
        with pytest.raises(RuntimeError, match="Unknown precision: fp8"):
            matmul.fp32_precision = "fp8"
        with pytest.raises(AttributeError, match="Unknown attribute alow_tf32"):
            matmul.alow_tf32 = True
    finally:
        tenfold.set_float32_matmul_precision(before)
