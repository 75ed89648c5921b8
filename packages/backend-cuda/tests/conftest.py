"""Where there is no GPU, the device "cuda" runs in Triton's interpreter: the tests of operators are the same."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tenfold.cuda import availability, precision, runtime

sys.path.insert(0, str(Path(__file__).parent))  # modules that several tests use stand beside them
import gpu_results

collect_ignore = [str(p) for p in Path(__file__).parent.glob("stub/*.py")]  # programs of their own, which test_stub runs
precision.CONVOLUTIONS = False  # as exact as the CPU's, which they are compared with
COMPILING = ("test_stub", "test_aot", "test_resources")
HAS_GPU = availability.probe()[0] > 0
if not HAS_GPU and importlib.util.find_spec("triton") is None:  # it has wheels for Linux only
    collect_ignore += ["test_operators.py", "test_pointwise.py", "test_training.py", "test_aot.py", "test_interpreter.py"]


def pytest_addoption(parser):
    parser.addoption("--check-memory", action="store_true", help="look at every load and store of a kernel (checked_memory.py)")
    parser.addoption("--results", help="on a GPU: a file that gets a line for each test as it ends (gpu_results.py)")
    parser.addoption(
        "--compiled", nargs="?", type=int, const=90, default=0, help="run the kernels' compiled code on the CPU (ptx/emulated.py)"
    )


def pytest_configure(config):
    """Before test modules are imported: Triton decides when a kernel is decorated whether it is interpreted."""
    if HAS_GPU:
        gpu_results.register(config)
    if config.getoption("--compiled", 0):
        from ptx import emulated  # which imports Triton

        emulated.use(config.getoption("--compiled"))
    elif not HAS_GPU:
        os.environ["TRITON_INTERPRET"] = "1"
        from tenfold.cuda import interpreter  # as it is without a GPU only

        interpreter.use()
        collect_ignore.append(str(Path(__file__).with_name("test_tiles.py")))  # block sizes are nothing to the interpreter
    if config.getoption("--check-memory", False) and not HAS_GPU:
        import checked_memory  # which imports Triton

        checked_memory.use()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        found = yield
        said = gpu_results.fault() if HAS_GPU else ""
        assert not said, f"the device failed: {said}"
        return found
    finally:
        module = sys.modules.get("checked_memory") if item.config.getoption("--check-memory", False) else None
        found = module.FINDINGS.take() if module else []
        if found:
            pytest.fail("\n".join(["what --check-memory found:", *map(str, found)]), pytrace=False)


def pytest_collection_modifyitems(items):
    """What compiles comes first: a file of scenarios takes a minute, for which one process would wait at the end."""
    items.sort(key=lambda item: item.path.stem not in COMPILING)


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory):
    """The folder in which Triton keeps what processes of this run compiled: one for all that share the tests out."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "triton"


@pytest.fixture
def no_runtime():
    """The device as it is on a machine that nobody asked yet: neither CuPy nor the interpreter in use."""
    before = runtime._state["runtime"]
    runtime.replace(None)
    availability.forget()
    yield
    runtime.replace(before)
    availability.forget()


@pytest.fixture
def small_tiles(monkeypatch):
    """Small tiles of reductions and scans, so that small arrays are divided among programs; and plans of their own."""
    from tenfold.cuda.kernels import folds, scanning  # where the runtime is chosen already

    monkeypatch.setattr(folds, "ELEMENTS", (16, 32))
    monkeypatch.setattr(folds, "PROGRAMS", 4)
    monkeypatch.setattr(scanning, "FEWEST", 2)
    folds.PLANS.clear()
    yield
    folds.PLANS.clear()
