"""Real CuPy and Triton's machine code over a stub driver: nothing is computed, every call is checked and counted.

`install(folder)` comes before the first import of CuPy in the process. Launches then carry a name, a grid, a stream and a
device; copies, fills, allocations and waits are counted. Device memory is host memory, zeros at first.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SHAPE = [("function", ctypes.c_long), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
         ("stream", ctypes.c_ssize_t), ("device", ctypes.c_int)]  # fmt: skip
_state: dict[str, Any] = {}
_sorts: Counter[str] = Counter()


class Launch(NamedTuple):
    """A kernel that would have run."""

    name: str
    grid: tuple[int, ...]
    threads: int
    stream: int
    device: int


class Work(NamedTuple):
    """What a call gave the device to do."""

    launches: list[Launch]
    products: int  # calls of cuBLAS and cuBLASLt
    counts: Counter[str]  # malloc, memset, sync, graph, to_device, to_host, on_device, sort

    @property
    def names(self) -> list[str]:
        return [launch.name for launch in self.launches]

    @property
    def devices(self) -> set[int]:
        return {launch.device for launch in self.launches}


def install(folder: Path) -> None:
    """Load the stub's libraries in place of NVIDIA's, and its runtime in place of CuPy's."""
    for library in sorted(folder.glob("lib*.so.*")):
        loaded = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
        _state[library.name.split(".")[0]] = loaded
    os.environ["CUPY_CACHE_DIR"] = str(folder / "cupy")  # a cache of its own: what the stub compiled runs nowhere
    os.environ.setdefault("TRITON_CACHE_DIR", str(folder / "triton"))
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    os.environ["CUPY_ACCELERATORS"] = ""  # CUB comes compiled, with a runtime of its own: it would pass by the stub
    driver = _state["libcuda"]
    driver.stub_name.restype, driver.stub_count.restype = ctypes.c_char_p, ctypes.c_long
    driver.stub_launch.restype = ctypes.POINTER(type("Record", (ctypes.Structure,), {"_fields_": SHAPE}))
    for name, function in (("libcublas", "cublas_calls"), ("libcublasLt", "cublaslt_calls"), ("libcublasLt", "cublaslt_made")):
        getattr(_state[name], function).restype = ctypes.c_long
    for name in ("cublaslt_stream", "cublaslt_workspace"):
        getattr(_state["libcublasLt"], name).restype = ctypes.c_ssize_t
    spec = importlib.util.spec_from_file_location("stub_runtime", folder / "stub_runtime.so")
    assert spec is not None
    assert spec.loader is not None
    module = _state["runtime"] = importlib.util.module_from_spec(spec)
    sys.modules["stub_runtime"] = module
    spec.loader.exec_module(module)
    import cupy_backends.cuda.api.runtime as real

    real.__pyx_capi__.update(module.capi())
    for name in module.capi():
        if hasattr(real, name):
            setattr(real, name, getattr(module, name))
    sys.modules["cudnn"] = None  # type: ignore[assignment]  # which may be installed, and needs a GPU's driver
    from cupy.cuda import thrust  # compiled with a runtime of its own, as CUB is: sorting is counted here and does nothing

    for name in ("sort", "argsort", "lexsort"):
        setattr(thrust, name, lambda *arguments, **options: _sorts.update(sort=1))


def require_context(on: bool) -> None:
    """Whether a launch in a thread that no runtime call has bound to a device fails, as it does on hardware."""
    _state["libcuda"].stub_require_context(int(on))


def products_library() -> Any:
    """The stub of cuBLASLt: `cublaslt_calls`, `cublaslt_searches`, and of the last call `cublaslt_stream` and its workspace."""
    return _state["libcublasLt"]


def work(function: Callable[[], Any]) -> Work:
    """Run a function; what it gave the device to do."""
    driver = _state["libcuda"]
    products = lambda: _state["libcublas"].cublas_calls() + _state["libcublasLt"].cublaslt_calls()  # noqa: E731
    driver.stub_reset()
    _state["runtime"].counts()
    before = products()
    _sorts.clear()
    function()
    found = [driver.stub_launch(i).contents for i in range(driver.stub_count())]
    launches = [
        Launch(driver.stub_name(l.function).decode(), tuple(l.grid), l.block[0] * l.block[1] * l.block[2], l.stream, l.device)
        for l in found
    ]  # fmt: skip
    return Work(launches, products() - before, Counter({k: v for k, v in _state["runtime"].counts().items() if v}) + _sorts)


class Turn(NamedTuple):
    """A mark in a stream, a wait for one, a copy, or a question to a stream, with the device that was current."""

    what: str
    device: int
    stream: int
    event: int


def turns(function: Callable[[], Any]) -> list[Turn]:
    """Run a function; what it gave streams to do besides kernels, in its order."""
    names = ("record", "wait", "copy", "synchronize", "query", "destroy")
    _state["runtime"].order()
    function()
    return [Turn(names[what], *rest) for what, *rest in _state["runtime"].order()]


def settled(function: Callable[[], Any]) -> Work:
    """`work` of a call whose kernels are compiled and loaded: a played one, which does what those before it did."""
    function()
    recorded = work(function)
    function()
    played = work(function)
    assert played.launches == recorded.launches, (recorded, played)
    assert played.products == recorded.products, (recorded, played)
    for what in ("memset", "on_device", "to_host"):
        assert played.counts[what] == recorded.counts[what], (what, recorded, played)
    return played


def run_cases(names: dict[str, Any], chosen: list[str]) -> None:
    """Run each function `case_…` of a module that has a chosen part in its name, and print a line of JSON for it.

    The line has its name, and its error if it has one.
    """
    for name, function in list(names.items()):
        if name.startswith("case_") and (not chosen or any(part in name for part in chosen)):
            try:
                function()
                error = ""
            except BaseException:  # noqa: BLE001 - pytest's failures are none of Exception
                error = traceback.format_exc()
            print(json.dumps({"name": name, "error": error}), flush=True)
