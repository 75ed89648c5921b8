"""Native call paths: functions such as `tenfold.add`, called without the interpreter where a call is plain.

The function stays what it is, with its signature, source and code; only its `vectorcall` field, which CPython 3.12 and newer
let anybody set, leads to native/paths.ll first. Plain is: positional arguments, tensors (or parameters) of the CPU that lie in
one piece, float32 or float64, a compiled kernel, no layer, no transform, gradients not switched off. What is not goes to the
function's own code, whose words are the errors. TENFOLD_NATIVE_CALLS=0 leaves all functions as they are.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import FLAGS, RUNTIME
from tenfold.settings import environment

OLDEST = (3, 12)  # whose functions have a vectorcall field that may be set
MOST = 256
FIELDS = ("_array", "_key", "_node", "_storage", "_base")
SYMBOLS = ("PyType_GenericAlloc", "PyDict_GetItemWithError")
NO_GRADIENT = 1  # in the place of a rule's name


def stubs() -> str:
    """Functions with a vectorcall's signature, each with words of its own."""
    lines = [f"@p_words = global [{MOST} x ptr] zeroinitializer"]
    for k in range(MOST):
        lines += [
            f"define ptr @path{k}(ptr %f, ptr %args, i64 %n, ptr %names) {{",
            f"  %place = getelementptr ptr, ptr @p_words, i64 {k}",
            "  %words = load ptr, ptr %place",
            "  %result = tail call ptr @call_path(ptr %words, ptr %f, ptr %args, i64 %n, ptr %names)",
            "  ret ptr %result",
            "}",
        ]
    return "\n".join(lines) + "\n"


def possible() -> bool:
    """Whether this interpreter lets a function be led elsewhere, and nobody has said no."""
    return sys.version_info >= OLDEST and environment.NATIVE_CALLS.read() != "0" and environment.DEBUG.read() in ("", "0")


class Paths:
    """The functions that have native call paths."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.set_vectorcall: Any = ctypes.pythonapi.PyFunction_SetVectorcall
        self.set_vectorcall.argtypes, self.set_vectorcall.restype = [ctypes.py_object, ctypes.c_void_p], None
        read: Any = ctypes.pythonapi.PyVectorcall_Function
        read.argtypes, read.restype = [ctypes.py_object], ctypes.c_void_p
        self.ordinary = read(lambda: 0)
        self.has_parameters = False
        self.taken: dict[int, FunctionType] = {}  # by the number of their path
        Tensor = RUNTIME["Tensor"]
        for name, value in {
            "p_Tensor": Tensor, "p_Parameter": Tensor, "p_CPU": CPU, "p_globals": RUNTIME, "p_builtin": BuiltinFunctionType,
            "p_float32": np.dtype(np.float32), "p_float64": np.dtype(np.float64),
        }.items():  # fmt: skip
            native.point(name, value)
        native.cell("p_flags").value = FLAGS.buffer_info()[0]
        native.cell("p_ordinary").value = self.ordinary
        for field, offset in offsets(Tensor).items():
            native.cell(f"p{field}").value = offset

    def _look_for_parameters(self) -> None:
        """Parameters are as plain as tensors, once tenfold-nn is there."""
        module = sys.modules.get("tenfold.nn.parameter")
        if module is not None and not self.has_parameters:
            self.has_parameters = True
            if offsets(module.Parameter, RUNTIME["Tensor"]) == offsets(RUNTIME["Tensor"]):
                self.native.point("p_Parameter", module.Parameter)

    def install(self, operator: Operator, roles: str) -> None:
        """Give an operator's function, and the methods of Python's operators with its call path, a native one."""
        if roles not in ("x", "xx", "xy") or [p.name for p in operator.kernel_params] != _tensors(operator, len(roles)):
            return
        rule = f"attach_{operator.name}"
        gradient: Any = sys.intern(rule) if operator.body is None else 0
        if operator.nondifferentiable:
            gradient = NO_GRADIENT
        self._look_for_parameters()
        words = np.array([len(roles), len(roles), id(operator.calls.kernels), roles == "xy", _word(gradient)], np.int64)
        self.native.keep.append((words, gradient, operator.calls.kernels))
        for function in _functions(operator):
            self._lead(function, words)

    def _lead(self, function: FunctionType, words: Any) -> None:
        number = len(self.taken)
        if number < MOST and function not in self.taken.values():
            self.taken[number] = function
            base = self.native.code.variable("p_words")
            ctypes.c_int64.from_address(base + 8 * number).value = words.ctypes.data
            self.set_vectorcall(function, self.native.code.address(f"path{number}"))

    def remove(self) -> None:
        """Let all functions be called as they were."""
        for function in self.taken.values():
            self.set_vectorcall(function, self.ordinary)
        self.taken.clear()


def _word(gradient: Any) -> int:
    return gradient if isinstance(gradient, int) else id(gradient)


def _tensors(operator: Operator, count: int) -> list[str]:
    """The names of the first parameters, all that a kernel gets; those behind them have to have defaults."""
    params = operator.params
    if any(not p.keyword_only and p.default is inspect.Parameter.empty for p in params[count:]):
        return []
    return [p.name for p in params[:count]]


def _functions(operator: Operator) -> list[FunctionType]:
    """The operator's function, and methods such as `__add__`."""
    found = [operator.fn]
    for name, value in vars(RUNTIME["Tensor"]).items():
        if name.startswith("__") and isinstance(value, FunctionType) and getattr(value, "op", None) is operator:
            found.append(value)
    return found


def offsets(cls: type, base: type | None = None) -> dict[str, int]:
    """Where the fields of an object of a class lie, found by what is written into them."""
    thing: Any = object.__new__(cls)
    words = cls.__basicsize__ // 8
    found = {}
    for field in FIELDS:
        slot: Any = vars(base or cls)[field]
        mark = object()
        slot.__set__(thing, mark)
        memory = (ctypes.c_int64 * words).from_address(id(thing))
        places = [8 * k for k in range(2, words) if memory[k] == id(mark)]
        slot.__set__(thing, None)
        if len(places) != 1:
            raise RuntimeError(f"{cls.__name__}.{field} cannot be found in memory")
        found[field] = places[0]
    return found
