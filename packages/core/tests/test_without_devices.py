"""The questions and switches that PyTorch programs begin with, on a machine and in an environment without CUDA."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tenfold
from tenfold.plugins import no_cuda


def test_the_first_line_of_many_programs():
    device = tenfold.device("cuda" if no_cuda.is_available() else "cpu")
    assert device.type == "cpu"


def test_everything_else_names_the_package():
    assert no_cuda.device_count() == 0
    no_cuda.manual_seed_all(0)
    with pytest.raises(AttributeError, match=r"tenfold.cuda.Stream is in the package tenfold-backend-cuda: pip install"):
        _ = no_cuda.Stream


def test_tenfold_cuda_answers_in_every_environment():
    code = "import tenfold; assert tenfold.cuda.is_available() in (True, False); print(tenfold.cuda.device_count())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip().isdigit()


def test_the_switch_for_deterministic_algorithms():
    tenfold.use_deterministic_algorithms(True)
    assert tenfold.are_deterministic_algorithms_enabled()
    tenfold.use_deterministic_algorithms(False)


def test_what_is_raised_for_a_device_that_is_not_here():
    code = """
import tenfold

x = tenfold.ones(2)
calls = [lambda: tenfold.tensor([1], device="cuda"), lambda: x.to("cuda"), lambda: tenfold.zeros(2, device="cuda:0")]
for call in calls * (not tenfold.cuda.is_available()):
    for kind in (RuntimeError, AssertionError):  # PyTorch's with CUDA but no driver, and its without CUDA
        try:
            call()
        except kind as error:
            print(error)
        else:
            raise SystemExit("no error")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # the package is missing, or CuPy, or a driver
    assert all("tenfold-backend-cuda" in line or "no NVIDIA driver" in line for line in run.stdout.splitlines())
