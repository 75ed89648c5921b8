"""`import tenfold` loads what every program needs, and nothing that only some do."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import tenfold

HEAVY = ["dataclasses", "importlib.metadata", "ml_dtypes", "numpy.typing", "pluggy", "safetensors"]
SIBLINGS = ["amp", "autograd", "cuda", "data", "func", "nn", "optim", "profiler", "testing", "text", "vision"]


def loaded_after(statements: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after these statements and had not after NumPy."""
    code = f"import sys, numpy; before = set(sys.modules); {statements}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(run.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    loaded = loaded_after("import tenfold")
    assert "tenfold.tensor" in loaded
    assert not loaded & {*HEAVY, *(f"tenfold.{name}" for name in SIBLINGS)}


def test_import_leaves_devices_and_plugins_for_later() -> None:
    loaded = loaded_after("import tenfold")
    assert not {name for name in loaded if name.startswith(("tenfold.cpu", "tenfold.plugins", "tenfold.plugins.discovery"))}


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_of_ml_dtypes_are_made_when_used(name: str) -> None:
    assert "ml_dtypes" in loaded_after(f"import tenfold; tenfold.{name}.numpy")
    assert "ml_dtypes" not in loaded_after(f"import tenfold; assert tenfold.{name}.itemsize <= 2; repr(tenfold.{name})")


def test_arrays_of_ml_dtypes_are_known_before_any_use() -> None:
    code = "import ml_dtypes, numpy, tenfold; x = tenfold.from_numpy(numpy.ones(2, ml_dtypes.bfloat16)); print(x.dtype)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == "tenfold.bfloat16\n"


def test_dir_lists_siblings_that_are_installed() -> None:
    for name, its_names in {"autograd": ["vmap", "autocast", "func", "profiler"], "optim": ["optim"], "nn": ["conv2d"]}.items():
        installed = importlib.util.find_spec(f"tenfold.{name}") is not None
        assert [one in dir(tenfold) for one in its_names] == [installed] * len(its_names)
    assert not {"optim_plugin", "nn_plugin", "Any"} & {*dir(tenfold)}


def test_operators_are_declared_when_one_of_their_module_is_asked_for() -> None:
    own = {name for name in loaded_after("import tenfold") if name.startswith("tenfold.ops.")}
    assert own <= {"tenfold.ops.creation", "tenfold.ops.creation.factories", "tenfold.ops.creation._data"}
    for use in ("tenfold.relu", "tenfold.op.relu_", "tenfold.Tensor.relu", "tenfold.ones(1).relu", "from tenfold import relu"):
        loaded = loaded_after(f"import tenfold; {use}")
        assert "tenfold.ops.activation" in loaded
        assert "tenfold.ops.reduction.statistics" not in loaded


@pytest.mark.parametrize(
    "program",
    [
        "assert tenfold.relu is tenfold.op.relu.fn is tenfold.Tensor.relu is tenfold.relu",
        "assert (1 + tenfold.ones(1)).tolist() == [2] and 'relu' in dir(tenfold.Tensor)",
        "assert (tenfold.ones(1) == 1) and tenfold.Tensor.__mul__(tenfold.ones(1), 2) == 2",
        "x = tenfold.ones(2); x[0] = 3; x += 1; assert x.tolist() == [4, 2] and x.sum() == 6",
        "x = tenfold.tensor([1j]); x.imag = 2; assert x.imag.tolist() == [2] and x.real.tolist() == [0]",
        "tenfold.Tensor.relu = lambda self: 7; x = tenfold.ones(1); assert x.relu() == 7 == x.relu() * tenfold.relu(x)",
        "x = tenfold.ones(1); x.softmax = 5; assert x.softmax == 5 and tenfold.ones(1).softmax(0) == 1",
        "class Mine(tenfold.Tensor):\n    def relu(self): return super().relu() + 1\nassert Mine([1.0]).relu() == 2",
        "import pickle\nassert pickle.loads(b'\\x80\\x04ctenfold.dispatch.operators\\n__rmul__\\n.') is tenfold.Tensor.__rmul__",
        "from tenfold import *\nassert relu is tenfold.relu and tensor is tenfold.tensor and callable(tensor)",
        (
            "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(8) as pool:\n"
            " assert list(pool.map(lambda i: tenfold.full((2,), i).sum().item(), range(8))) == [2 * i for i in range(8)]"
        ),
    ],
)
def test_what_is_declared_late_is_there_first(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", f"import tenfold\n{program}"], capture_output=True, text=True, timeout=60)
    assert not run.returncode, run.stderr


def test_a_name_of_an_operator_that_is_not_loaded_yet_is_taken() -> None:
    code = (
        "import tenfold\nfrom tenfold.dispatch.operators import composite\n"
        "@composite('activation')\ndef relu(input: tenfold.Tensor) -> tenfold.Tensor: return input\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "operator 'relu' is declared twice: in tenfold.ops.activation and in __main__" in run.stderr


def test_a_class_with_its_own_function_is_asked_for_methods_that_are_declared_late() -> None:
    code = (
        "import tenfold\nseen = []\nclass Mine(tenfold.Tensor):\n @classmethod\n"
        " def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "  seen.append(getattr(func, '__name__', ''))\n  return super().__torch_function__(func, types, args, kwargs or {})\n"
        "x = Mine([[1.0]]); x.T; x.type(); x[0, 0] = 3\nassert seen == ['__get__', 'type', '__setitem__'], seen\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert not run.returncode, run.stderr
