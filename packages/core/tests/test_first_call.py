"""Every public function can be the first thing that a process calls, when no backend and no plugin is loaded yet."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import tenfold

FIRST = [
    "tenfold.tensor([1, 2])", "tenfold.from_numpy(numpy.ones(2))", "tenfold.as_tensor(numpy.ones(2))", "tenfold.empty(2)",
    "tenfold.frombuffer(bytearray(8), dtype=tenfold.float32)", "tenfold.zeros(2, 3)", "tenfold.arange(3)", "tenfold.eye(2)",
    "tenfold.rand(2)", "tenfold.randperm(3)", "tenfold.manual_seed(0)", "tenfold.get_rng_state()", "tenfold.Generator()",
    "tenfold.Tensor([1.0]) + 1", "1 - tenfold.Tensor([1.0])", "tenfold.UntypedStorage", "tenfold.finfo(tenfold.float32)",
    "pickle.loads(PICKLED)", "tenfold.broadcast_shapes((2, 1), (3,))",
    "tenfold.set_default_device('meta')", "tenfold.set_default_dtype(tenfold.float64)",
    "tenfold.device('cpu').__enter__()", "tenfold.can_cast(tenfold.int8, tenfold.float32)", "tenfold.result_type(1, 2.0)",
    "tenfold.is_tensor(1)", "tenfold.typename(tenfold.Tensor([1.0]))", "tenfold.set_num_threads(1)", "tenfold.promote_types",
    "tenfold.zeros(2, device='meta').sum()", "tenfold.op.mm.signature", "repr(tenfold.Tensor([1.0]))", "tenfold.ones(3)",
    "copy.deepcopy(tenfold.Tensor([1.0]))", "tenfold.utils", "tenfold.plugins.installed()", "tenfold.overrides.TorchFunctionMode",
]  # fmt: skip


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def prepared() -> str:
    """Names for the calls, and a pickle as another process wrote it."""
    pickled = run("import pickle, tenfold\nprint(repr(pickle.dumps(tenfold.arange(3.0))))").stdout
    return f"import copy, pickle, numpy, tenfold\nPICKLED = {pickled}\n"


@pytest.mark.parametrize("call", FIRST)
def test_as_the_first_call_of_a_process(prepared: str, call: str) -> None:
    done = run(prepared + call)
    assert done.returncode == 0, done.stderr


def test_the_default_device_is_that_of_its_own_thread() -> None:
    seen = {}

    def look() -> None:
        seen["other"] = (tenfold.get_default_device().type, tenfold.zeros(1).device.type)
        tenfold.set_default_device(device="meta")
        with tenfold.device("cpu"):
            seen["inside"] = tenfold.zeros(1).device.type
        seen["after"] = tenfold.zeros(1).device.type

    with tenfold.device("meta"):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert tenfold.zeros(1).device.type == "meta"
    assert tenfold.zeros(1).device.type == "cpu"
    assert seen == {"other": ("cpu", "cpu"), "inside": "cpu", "after": "meta"}


def test_a_listing_whose_reader_stops_early_ends_in_peace() -> None:
    command = [sys.executable, "-u", "-m", "tenfold", "op"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=120) == 0
