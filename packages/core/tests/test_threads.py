"""How many threads BLAS uses, and for which products."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import tenfold
from tenfold.cpu import blas
from tenfold.settings import threads


@pytest.fixture
def counted(monkeypatch):
    """A BLAS of four threads that notes what it is told."""
    told = []
    monkeypatch.setattr(blas, "blas_threads", lambda: (told.append, lambda: told[-1] if told else 4))
    return told


def a_product(m, k, n):
    return blas.dot(np.ones((m, k), np.float32), np.ones((k, n), np.float32))


@pytest.mark.parametrize("shape", [(32, 256, 1024), (1, 512, 2048), (128, 128, 128)])
def test_a_product_that_gains_nothing_runs_on_one_thread(counted, shape):
    assert (a_product(*shape) == shape[1]).all()
    assert counted == [1, 4]


@pytest.mark.parametrize("shape", [(4, 4, 4), (512, 512, 512)])
def test_tiny_and_large_products_are_left_alone(counted, shape):
    a_product(*shape)
    assert counted == []


def test_threads_are_restored_after_an_error(counted):
    with pytest.raises(ValueError, match="not aligned"):
        blas.dot(np.ones((100, 100)), np.ones((101, 100)))
    assert counted == [1, 4]


def test_set_and_get():
    before = tenfold.get_num_threads()
    try:
        tenfold.set_num_threads(1)
        assert tenfold.get_num_threads() == 1
    finally:
        tenfold.set_num_threads(before)


@pytest.mark.skipif(threads.blas_threads() is None, reason="NumPy runs on another BLAS than OpenBLAS")
@pytest.mark.parametrize("variable", ["TENFOLD_NUM_THREADS", "OMP_NUM_THREADS"])
def test_environment(variable):
    environment = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")} | {variable: "1"}
    program = "import tenfold; print(tenfold.get_num_threads())"
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "1"


def test_two_threads_in_one_kernel_at_once() -> None:
    """Each kernel's own context can be entered by one thread at a time; the other takes the slower way."""
    x = tenfold.full((400_000,), 2.0)
    wrong: list[float] = []

    def run() -> None:
        for _ in range(20):
            total = (tenfold.exp(x) * 0.0 + x * 3.0).sum().item()
            if total != 2_400_000.0:
                wrong.append(total)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def hides_its_count():
    """Whether NumPy's OpenBLAS, as that of NumPy 2.5, does not export the variable that holds its number of threads."""
    return any(not hasattr(ctypes.CDLL(path), "blas_cpu_number") for path in threads._loaded_blas())


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
@pytest.mark.xfail(hides_its_count(), reason="OpenBLAS's function starts threads, and its variable is not exported", strict=True)
def test_a_forked_child_on_one_thread_starts_none():
    """BLAS's own function would start those of all processors anew, and they spin while they wait."""
    code = (
        "import os, numpy as np, tenfold\n"
        "tenfold.set_num_threads(2)\n"
        "a = np.ones((600, 600)); a @ a\n"
        "if os.fork() == 0:\n"
        "    tenfold.set_num_threads(1)\n"
        "    right = (a @ a == 600).all() and tenfold.get_num_threads() == 1\n"
        "    os._exit(0 if right and len(os.listdir('/proc/self/task')) == 1 else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))"
    )
    environment = os.environ | {"TENFOLD_DISABLE_PLUGINS": "llvm"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    "more", [{"openblas_get_parallel": lambda: 2, "blas_cpu_number": 4}, {"openblas_get_parallel": lambda: 1}, {}]
)
def test_a_blas_that_counts_otherwise_is_told_by_its_own_function(more):
    """Built for OpenMP it asks OpenMP for the number each time, and the variable would be overwritten."""
    library = SimpleNamespace(openblas_set_num_threads=print, **more)
    assert threads._setter(library, "openblas_{}_num_threads") is print
