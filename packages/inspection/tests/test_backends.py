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
    tenfold.backends.cudnn.benchmark = True
    tenfold.backends.cuda.matmul.allow_tf32 = True
    assert tenfold.accelerator.is_available() == (tenfold.accelerator.current_accelerator() is not None)
    assert tenfold.__config__.show().startswith("Tenfold")
