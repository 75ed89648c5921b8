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
