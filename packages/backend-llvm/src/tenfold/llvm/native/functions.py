"""The native functions as Python sees them, after a check that this interpreter and NumPy lay objects out as they assume."""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from importlib import import_module
from importlib.resources import files
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tenfold.llvm import call_paths, normals, places
from tenfold.llvm.compiler import CALLS, FEW, Loaded, load, unsuitable
from tenfold.llvm.native import later

_PYTHON = (
    "Py_IncRef", "Py_DecRef", "PyErr_Occurred", "PyErr_Clear", "PyErr_SetString", "PyLong_AsSsize_t", "PyLong_AsDouble",
    "PyObject_Vectorcall", "PyEval_SaveThread", "PyEval_RestoreThread", "PyTuple_New", "PyTuple_SetItem",
    "PyList_New", "PyList_SetItem", "PyLong_FromSsize_t",
)  # fmt: skip
_NUMPY = {
    "PyArray_NewFromDescr": 94,
    "PyArray_SetBaseObject": 282,
    "PyDataMem_SetHandler": 304,
}  # their places in NumPy's table, which do not change
_NUMBERS = ("draw_words", "to_units32", "to_units64", "to_normals32", "to_normals64")  # loops that the others call
_FILES = (
    "memory.ll", "calls.ll", "spreading.ll", "dense.ll", "rows.ll", "products.ll", "plans.ll", "joining.ll", "losses.ll",
    "later.ll", "units.ll", "random.ll", "distances.ll",
)  # fmt: skip
_PATHS = (
    "paths.ll", "norms.ll", "affine.ll", "recording.ll", "factories.ll", "updates.ll", "writing.ll", "filling.ll",
    "mixing.ll", "multiples.ll", "forms.ll", "conversions.ll", "geometry.ll", "selecting.ll", "views.ll", "sharing.ll",
    "quick.ll", "walk.ll", "later_paths.ll",
)  # fmt: skip
_PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32)"}
# Linux's system calls and the instruction for a pause, for each processor.
_SYSTEM = {
    "x86_64": {"FUTEX": 202, "GETTID": 186, "SETAFFINITY": 203, "GETCPU": 309, "PAUSE": _PAUSE["x86_64"]},
    "aarch64": {"FUTEX": 98, "GETTID": 178, "SETAFFINITY": 122, "GETCPU": 168, "PAUSE": "llvm.aarch64.hint(i32 1)"},
}  # fmt: skip
FASTCALL, KEYWORDS = 0x80, 0x02


class Native:
    """The functions: `launch` a compiled loop, `wrap` a kernel, `caching` a call's memory."""

    def __init__(self) -> None:
        _check_layout()
        _resolve_symbols()
        self.keep: list[Any] = []  # what native code points to
        numbers = load(numbers_source(), FEW)
        for name in _NUMBERS:
            llvm.add_symbol(name, numbers.address(name))
        self.code: Loaded = load(source(), CALLS)
        for name, value in _OBJECTS.items():
            self.point(name, value)
        for part in list(later.PARTS) if call_paths.possible() else ["m_along"]:
            self.point(part, functools.partial(self._load_later, part))
        if call_paths.possible():
            self.point("l_load", self._load_places)
        self.launch: Any = self.builtin("launch", None, 0)
        self.distance: Any = self.builtin("distance", None, 0)

    def _load_later(self, part: str) -> None:
        """Make the functions that few programs call."""
        self.point(part, bool)  # whatever comes of it, it is tried once
        code = load(later.source(part, source()), CALLS)
        for name in later.PARTS[part][1]:
            self.cell(f"later_{name}").value = code.address(name)

    def _load_places(self) -> None:
        """Make the loops that write at places and compare, which few programs need."""
        self.point("l_load", bool)  # whatever comes of it, it is tried once
        loops = load(places.source())
        for name in reversed(places.NAMES):  # the first one says that all are there
            self.cell(f"l_{name}").value = loops.address(name)

    def point(self, variable: str, value: Any) -> None:
        """Let a variable of the native code refer to an object, for good."""
        self.keep.append(value)
        self.cell(variable).value = id(value)

    def cell(self, variable: str) -> Any:
        """A 64-bit variable of the native code."""
        return ctypes.c_int64.from_address(self.code.variable(variable))

    def builtin(self, symbol: str, receiver: Any, flags: int = KEYWORDS) -> Any:
        """A native function as a builtin of Python, with the object that it gets as `self`."""
        method = _MethodDef(symbol.encode(), self.code.address(symbol), FASTCALL | flags, None)
        self.keep.append(method)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return new(ctypes.addressof(method), receiver, None)


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_OBJECTS: dict[str, Any] = {
    "g_ndarray": np.ndarray, "g_float": float, "g_int": int, "g_bool_dtype": np.dtype(np.bool_), "g_None": None,
    "g_NotImplemented": NotImplemented, "g_TypeError": TypeError, "g_out": sys.intern("out"),
    "g_tuple": tuple, "g_list": list, "g_False": False, "g_True": True,
}  # fmt: skip


def has_pool() -> bool:
    """Whether this system has the thread pool: Linux on x86-64 and ARM64."""
    return sys.platform == "linux" and platform.machine() in _SYSTEM


def source() -> str:
    """The native functions as one module, for this system."""
    folder = files("tenfold.llvm.native")
    threads = (folder / ("pool.ll" if has_pool() else "alone.ll")).read_text("utf-8")
    threads = threads.replace("PAUSE_DECLARATION", f"declare void @{_PAUSE.get(platform.machine(), '')}")
    for name, value in _SYSTEM.get(platform.machine(), {}).items():
        threads = threads.replace(name if name == "PAUSE" else f"SYSCALL_{name}", str(value))
    parts = [
        threads,
        *((folder / name).read_text("utf-8") for name in _FILES),
        normals.shared(),
    ]
    if call_paths.possible():
        parts += [(folder / name).read_text("utf-8") for name in _PATHS]
    return "\n".join(parts)


def numbers_source() -> str:
    """The loops that make random numbers."""
    folder = files("tenfold.llvm.native")
    texts = ((folder / name).read_text("utf-8") for name in ("numbers.ll", "units.ll"))
    return "\n".join([*texts, normals.shared(), normals.source()])


def _resolve_symbols() -> None:
    for name in (*_PYTHON, *(call_paths.SYMBOLS if call_paths.possible() else ())):
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    for name, address in normals.addresses().items():
        llvm.add_symbol(f"libm_{name}", address)
    capsule = ctypes.pythonapi.PyCapsule_GetPointer
    capsule.restype, capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    interface = import_module("numpy._core._multiarray_umath")._ARRAY_API
    table = ctypes.cast(capsule(interface, None), ctypes.POINTER(ctypes.c_void_p))
    for name, index in _NUMPY.items():
        llvm.add_symbol(name, table[index])


def _check_layout() -> None:
    """Refuse to go on where objects are laid out in another way than the native code reads them."""
    a = np.zeros((2, 3), np.float32)
    number = 1.5

    def read(o: Any, offset: int, kind: Any) -> Any:
        return kind.from_address(id(o) + offset).value

    facts = {
        "an object's type": read(a, 8, ctypes.c_void_p) == id(np.ndarray),
        "an array's data": read(a, 16, ctypes.c_void_p) == a.ctypes.data,
        "an array's dimensions": (read(a, 24, ctypes.c_int), read(a, 56, ctypes.c_void_p)) == (2, id(a.dtype)),
        "an array's shape": list((ctypes.c_ssize_t * 2).from_address(read(a, 32, ctypes.c_void_p))) == [2, 3],
        "an array's steps": list((ctypes.c_ssize_t * 2).from_address(read(a, 40, ctypes.c_void_p))) == [12, 4],
        "a slice": [read(slice(1, 2, 3), 16 + 8 * k, ctypes.c_void_p) for k in range(3)] == [id(1), id(2), id(3)],
        "an array's base": read(a[1:], 48, ctypes.c_void_p) == id(a) and read(a, 48, ctypes.c_void_p) is None,
        "an array's flags": read(a, 64, ctypes.c_int) & 0x501 == 0x501 and not read(a.T, 64, ctypes.c_int) & 1,
        "a dtype's size": read(a.dtype, 40, ctypes.c_ssize_t) == 4,
        "a dictionary's size": (read({1: 2}, 16, ctypes.c_ssize_t), read({}, 16, ctypes.c_ssize_t)) == (1, 0),
        "a float": read(number, 16, ctypes.c_double) == number,
        "a tuple": read((number,), 24, ctypes.c_void_p) == id(number),
    }
    wrong = [name for name, right in facts.items() if not right]
    if wrong:
        raise RuntimeError(f"this Python or NumPy lays out {', '.join(wrong)} in another way than tenfold.llvm expects")


@functools.cache
def native() -> Native:
    """The native functions, loaded on first use."""
    reason = unsuitable()
    if reason:
        raise RuntimeError(reason)
    return Native()
