"""Native call paths: functions such as `tenfold.add`, called without the interpreter where a call is plain.

The function stays what it is, with its signature, source and code; only its `vectorcall` field, which CPython 3.12 and newer
let anybody set, leads to native/paths.ll first. Plain is: positional arguments, tensors (or parameters) of the CPU that lie in
one piece, float32 or float64 (half precision without gradients), a compiled kernel, no layer, no transform. What is not goes to
the function's own code, whose words are the errors. TENFOLD_NATIVE_CALLS=0 leaves all functions as they are.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tenfold.cpu.allocator import COLLECTED
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.layout import layout_of
from tenfold.dispatch.operators import Operator, op
from tenfold.dispatch.runtime import FLAGS, RUNTIME, STATE
from tenfold.dispatch.spellings import takes_out
from tenfold.llvm.mixing import NAMES as MIXED, Mixer
from tenfold.llvm.recording import Recorder
from tenfold.llvm.slots import places
from tenfold.llvm.storage import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from tenfold.llvm.views import Viewer
from tenfold.settings import environment
from tenfold.settings.determinism import STATE as DETERMINISM
from tenfold.types import dtypes
from tenfold.types.size import Size

OLDEST = (3, 12)  # whose functions have a vectorcall field that may be set
PLACES = 2048  # of functions in native/paths.ll's table
FIELDS = ("_array", "_key", "_node", "_storage", "_base")
SYMBOLS = (
    "PyType_GenericAlloc", "PyDict_GetItemWithError", "PyObject_GetAttr", "PyFloat_FromDouble",
    "PyIter_Next", "PySlice_Unpack", "PySlice_AdjustIndices", "PyWeakref_NewRef", "PyDict_New", "PyDict_SetItem",
    "PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawRealloc", "PyMem_RawFree", "PyList_SetSlice", "PySequence_Tuple",
    "PyObject_VectorcallMethod", "PyErr_ExceptionMatches",
)  # fmt: skip
NO_GRADIENT = 1  # in the place of a rule's name
# The words of a function, as native/paths.ll reads them.
LEAST, COUNT, KERNELS, HAS_BODY, GRADIENT, FLAGS_WANTED = range(6)
IN_ONE_PIECE, ALIGNED = 1, 256  # of NumPy's flags
HALF = 1 << 32  # beside them: arrays may be of half precision
ROLES, DEFAULTS, NAMES, WRITING = 8, 16, 24, 32
FORM_IN_PLACE, MIXER, TO_FLOATS, MULTIPLES, SUBTRACTED, FORM, ONE_WAY, OTHER_WAY, ANY_KERNEL, WORDS = range(36, 46)
# Operators whose calls may be those of others, as native/forms.ll has it.
FORMS = {"clamp": (1, "clamp_min", "clamp_max"), "div": (2, "floored_quotient", "truncated_quotient")}
TAKES_OUT, ELEMENTWISE, IN_PLACE, CONVERTS = 1, 2, 4, 8  # of the word for writing
MOST_PARAMETERS = 8
ROLE_OF = {"tensor": 1, "number": 2, "value": 3, "optional": 5, "list": 6}
NEUTRAL, EXACTLY, OR_NONE = 4, {"int": 7, "bool": 8, "float": 9, "dims": 11}, 16  # by what a parameter holds
MASK = 10  # a tensor of bool
FIRST = [[ROLE_OF["tensor"]], [ROLE_OF["number"]], [ROLE_OF["list"]], [MASK]]  # roles of a first parameter
# Functions without a kernel that have a path of their own.
PLAIN = (
    "zero_", "copy_", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
)  # fmt: skip
MISSING = object()


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
        self.taken: dict[FunctionType, str] = {}  # the functions with a native path, and its name
        Tensor = RUNTIME["Tensor"]
        for name, value in {
            "p_Tensor": Tensor, "p_Parameter": Tensor, "p_CPU": CPU, "p_globals": RUNTIME, "p_builtin": BuiltinFunctionType,
            "p_function": FunctionType, "p_thread": STATE, "p_exception": Exception, "p_coerce": CPU.coerce,
            "p_grad_enabled": sys.intern("grad_enabled"),
            "p_float32": FLOAT32.dtype, "p_float64": FLOAT64.dtype, "p_float16": FLOAT16.dtype,
            "p_bfloat16": BFLOAT16.dtype, "d_devices": sys.intern("devices"),
            "d_types": vars(dtypes), "d_default": sys.intern("_default"), "d_float32": dtypes.float32, "d_size": Size,
            "f_determinism": DETERMINISM, "f_on": sys.intern("on"), "f_collected": COLLECTED, "g_alpha": sys.intern("alpha"),
            "g_rounding_mode": sys.intern("rounding_mode"), "g_floor": sys.intern("floor"), "g_trunc": sys.intern("trunc"),
            "g_out_names": ("out",), "g_int64": np.dtype(np.int64),
            "g_numpy_float64": np.float64, "g_numpy_float32": np.float32, "g_numpy_int64": np.int64,
        }.items():  # fmt: skip
            native.point(name, value)
        native.cell("p_flags").value = FLAGS.buffer_info()[0]
        native.cell("p_ordinary").value = self.ordinary
        for field, offset in offsets(Tensor).items():
            native.cell(f"p{field}").value = offset
        self.recorder = Recorder(native)
        self.viewer = Viewer(native)
        for function, words in self.viewer.functions():
            self.lead_by(function, words)
        for name in PLAIN:
            self.lead(getattr(op, name).fn, f"path_{name}")

    def look_for_parameters(self) -> None:
        """Parameters are as plain as tensors, once tenfold-nn is there."""
        module = sys.modules.get("tenfold.nn.parameter")
        if module is not None and not self.has_parameters:
            self.has_parameters = True
            if offsets(module.Parameter, RUNTIME["Tensor"]) == offsets(RUNTIME["Tensor"]):
                self.native.point("p_Parameter", module.Parameter)

    def install(self, operator: Operator, *, strided: bool = False, writes: bool = True, any_kernel: bool = False) -> None:
        """Give an operator's function, and the methods of Python's operators with its call path, a native one.

        `strided`: also for tensors that do not lie in one piece. `writes`: its in-place form and calls with out= get one, too.
        `any_kernel`: also where the kernel is not native.
        """
        roles = _roles(operator)
        if not roles:
            return
        elementwise = ELEMENTWISE if layout_of(operator) == "arrange" else 0
        takes = TAKES_OUT if writes and takes_out(operator) and not _looks_at_out(operator) else 0
        words = self._install(operator, operator, roles, strided, elementwise | takes)
        words[ANY_KERNEL] = any_kernel
        if writes and operator.inplace_form is not None:
            self._install(operator.inplace_form, operator, roles, strided, elementwise | IN_PLACE)

    def _install(self, form: Operator, operator: Operator, roles: list[int], strided: bool, writing: int) -> Any:
        """The same for one form of the operator, which has the words of the operator itself; these words."""
        params = operator.params[: len(roles)]
        gradient: Any = NO_GRADIENT if operator.nondifferentiable else sys.intern(f"attach_{operator.name}")
        self.look_for_parameters()
        words = np.zeros(WORDS, np.int64)
        required = [p.default is inspect.Parameter.empty for p in params]
        words[LEAST], words[COUNT], words[KERNELS] = sum(required), len(params), id(operator.calls.kernels)
        words[HAS_BODY], words[GRADIENT] = operator.body is not None, _word(gradient)
        words[ROLES : ROLES + len(params)] = roles
        if params[-1].name == "inplace" and roles[-1] == NEUTRAL and form is operator and operator.inplace_form is not None:
            words[FORM_IN_PLACE] = id(operator.inplace_form.fn)
        words[FLAGS_WANTED], words[WRITING] = ALIGNED if strided else ALIGNED | IN_ONE_PIECE, writing
        numbers = {ROLE_OF["number"]} if operator.exact_numbers is True else set()  # others meet what half precision may not hold
        if operator.pointwise and set(roles) <= {ROLE_OF["tensor"], NEUTRAL, MASK} | numbers | (
            {ROLE_OF["number"]} if MASK in roles else set()
        ):
            words[FLAGS_WANTED] |= HALF
        mixer = Mixer(form, operator) if operator.name in MIXED else None
        if mixer is not None:
            words[MIXER], words[TO_FLOATS] = id(mixer), operator.promote == "float"
        if form is operator and operator.name in ("add", "sub"):
            words[MULTIPLES], words[SUBTRACTED] = id(op.add_scaled.fn), operator.name == "sub"
        if form is operator and operator.name in FORMS:
            words[FORM], one, other = FORMS[operator.name]
            words[ONE_WAY], words[OTHER_WAY] = id(getattr(op, one).fn), id(getattr(op, other).fn)
        for k, p in enumerate(params):
            words[DEFAULTS + k] = 0 if required[k] else id(p.default)
            words[NAMES + k] = id(sys.intern(p.name))
        self.native.keep.append((words, gradient, mixer, operator.calls.kernels, params, [sys.intern(p.name) for p in params]))
        for function in _functions(form):
            self.lead_by(function, words)
        return words

    def lead_by(self, function: FunctionType, words: Any) -> None:
        """Let a function's calls begin in native code that has these words."""
        if len(self.taken) >= PLACES // 2 or function in self.taken:
            return
        table = (ctypes.c_int64 * (2 * PLACES)).from_address(self.native.code.variable("p_table"))
        place = id(function) >> 4
        while table[2 * (place % PLACES)] not in (0, id(function)):
            place += 1
        table[2 * (place % PLACES) + 1], table[2 * (place % PLACES)] = words.ctypes.data, id(function)
        self.lead(function, "path")

    def lead(self, function: FunctionType, path: str) -> None:
        """Let a function's calls begin in a native function, which may leave some to what the words of the function say."""
        self.taken[function] = path
        self.set_vectorcall(function, self.native.code.address(path))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Inside, all functions are called as they were: to see whether native code makes a difference."""
        taken = dict(self.taken)
        for function in taken:
            self.set_vectorcall(function, self.ordinary)
        self.taken.clear()
        try:
            yield
        finally:
            for function, path in taken.items():
                self.lead(function, path)


def _looks_at_out(operator: Operator) -> bool:
    """Whether something is asked about calls with out= before the operator is, and may refuse them."""
    return operator.overload_body is not None and "out" in inspect.signature(operator.overload_body).parameters


def _word(gradient: Any) -> int:
    return gradient if isinstance(gradient, int) else id(gradient)


def _roles(operator: Operator) -> list[int]:
    """What each of the parameters takes that may come by position; none where a native path cannot serve the operator."""
    if operator.outputs != 1 or operator.view or operator.moves or operator.random or operator.inplace_of is not None:
        return []
    masks = {name for name, accepted in operator.accepts.items() if accepted.categories == {0}}
    if any(2 not in accepted.categories for name, accepted in operator.accepts.items() if name not in masks):
        return []  # it takes no floats there
    taken = {p.name for p in operator.kernel_params}
    roles: list[int] = []
    for p in operator.params:
        if p.keyword_only:  # behind all others; whoever gives it goes the ordinary way
            if p.default is inspect.Parameter.empty or p.name in taken:
                return []
        elif p.name in taken and p.role in ROLE_OF:
            kind = p.whole.removesuffix(" | None")
            role = MASK if p.name in masks and p.role == "tensor" else EXACTLY.get(kind, ROLE_OF[p.role])
            roles.append(role + OR_NONE * (kind == "dims" or (kind in EXACTLY and kind != p.whole)))
        elif p.name not in taken and operator.neutral.get(p.name, MISSING) is p.default:
            roles.append(NEUTRAL)
        else:
            return []
    return roles if len(roles) <= MOST_PARAMETERS and roles[:1] in FIRST else []


def _functions(operator: Operator) -> list[FunctionType]:
    """The operator's function, and methods such as `__add__`."""
    found = [operator.fn]
    for name, value in vars(RUNTIME["Tensor"]).items():
        if name.startswith("__") and isinstance(value, FunctionType) and getattr(value, "op", None) is operator:
            found.append(value)
    return found


def offsets(cls: type, base: type | None = None) -> dict[str, int]:
    """Where the fields of a tensor's class lie."""
    return places(cls, FIELDS, base)
