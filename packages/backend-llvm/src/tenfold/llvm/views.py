"""What native/views.ll has to know of views: which functions make them, and where a storage's fields lie."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from tenfold.dispatch.operators import TENSOR_ROLES, op
from tenfold.dispatch.runtime import RUNTIME
from tenfold.llvm.quick_factories import FACTORIES
from tenfold.llvm.quick_filled import FILLED
from tenfold.llvm.quick_places import PLACES, index_add
from tenfold.llvm.quick_subscripts import flatten, read, write
from tenfold.llvm.quick_views import VIEWS
from tenfold.llvm.slots import places
from tenfold.tensor.storage import Storage

# The words of a function, as native/views.ll reads them.
KERNELS, GRADIENT, KIND, LAST, GOOD, OTHERS, QUICK, WORDS = 2, 4, 32, 33, 34, 35, 36, 37
KINDS = {"getitem": 16, "view": 17, "transpose": 18, "unsqueeze": 19, "permute": 20, "select": 22}
# Composites that are a view of these where they have no kernel of their own.
COMPOSITES = {
    "reshape": ("view", 17), "t": ("transpose", 21), "swapaxes": ("transpose", 18), "swapdims": ("transpose", 18),
}  # fmt: skip
# What native/scattering.ll does: the operator with the kernel that it stands for, and the word that says how. Each in place, too.
SCATTERS = {"scatter": ("scatter_set", 32), "scatter_add": ("scatter_add", 34), "index_add": ("index_add", 38)}
IN_PLACE = 1
# Functions with a file of their own: native/comparing.ll, native/sharing.ll.
ALONE = {"equal": 40, "from_numpy": 41}
FIRST = 42  # native/quick.ll
# The modules whose kernels native/views.ll and native/scattering.ll stand for.
OWN = ("tenfold.cpu.view", "tenfold.cpu.indexing", "tenfold.llvm.kernels.sending")
FIELDS = ("array", "key", "lent", "listing", "marked", "noting", "unlisted", "views")


class Viewer:
    """The functions that make views, with what native code has to know of each."""

    def __init__(self, native: Any) -> None:
        self.native = native
        for field, place in places(Storage, FIELDS).items():
            native.cell(f"v_{field}_at").value = place
        native.cell("u_guarded_at").value = places(Storage, ("guarded",))["guarded"]
        native.cell("v_origin_at").value = places(RUNTIME["Tensor"], ("_origin",))["_origin"]
        native.point("v_no_grad", sys.intern("no_grad"))
        native.point("g_Ellipsis", Ellipsis)
        native.point("g_slice", slice)
        native.point("v_learn", self.learn)

    def functions(self) -> Iterator[tuple[FunctionType, Any]]:
        """Each function with its words."""
        for name, kind in KINDS.items():
            words = self.words(getattr(op, name), kind, f"attach_{name}")
            yield getattr(op, name).fn, words
            if name == "getitem":
                words = self.quick(read, words.copy())
                yield vars(RUNTIME["Tensor"])["__getitem__"], words
        for name, (basis, kind) in COMPOSITES.items():
            recorded = None if name == "t" else f"attach_{basis}"  # which gets the call's arguments, and t has none
            words = self.words(getattr(op, basis), kind, recorded)
            others = getattr(op, name).calls.kernels
            words[OTHERS] = id(others)
            self.native.keep.append(others)
            yield getattr(op, name).fn, words

        for name, (basis, kind) in SCATTERS.items():
            operator = getattr(op, name)
            for form, how in ((operator, kind), (operator.inplace_form, kind + IN_PLACE)):
                words = self.words(getattr(op, basis), how, None)
                words[OTHERS] = 0 if basis == name else id(operator.calls.kernels)
                words[QUICK] = id(index_add) if form is op.index_add else 0
                self.native.keep.append(operator.calls.kernels)
                yield form.fn, words

        for name, kind in ALONE.items():
            yield getattr(op, name).fn, self.words(getattr(op, name), kind, None)

        yield vars(RUNTIME["Tensor"])["__setitem__"], self.quick(write)
        for name, function in (FACTORIES | FILLED).items():
            yield getattr(op, name).fn, self.quick(function)
        for name, function in (VIEWS | PLACES | {"flatten": flatten}).items():
            yield getattr(op, name).fn, self.quick(function, of=getattr(op, name))

    def quick(self, function: Any, words: Any = None, of: Any = None) -> Any:
        """Words by which a function in Python is asked first; `words`: where native code leaves a call to it; `of`: a composite,
        whose kernel for the CPU goes first where somebody has attached one."""
        if words is None:
            words = np.zeros(WORDS, np.int64)
            words[KIND] = FIRST
        if of is not None and any(p.role in TENSOR_ROLES for p in of.params):
            words[OTHERS] = id(of.calls.kernels)
            self.native.keep.append(of.calls.kernels)
        words[QUICK] = id(function)
        self.native.keep.append((words, function))
        return words

    def words(self, operator: Any, kind: int, rule: str | None) -> Any:
        """What native code reads of an operator; `rule`: the name of what records its gradient, None where Python has to."""
        words = np.zeros(WORDS, np.int64)
        name = None if rule is None else sys.intern(rule)
        words[KERNELS], words[KIND] = id(operator.calls.kernels), kind
        words[GRADIENT] = 0 if name is None else id(name)
        self.native.keep.append((words, operator.calls.kernels, name))
        return words

    def learn(self, path: int, kernel: Any) -> None:
        """Note in a function's words whether this kernel is core's own."""
        words = (ctypes.c_int64 * WORDS).from_address(path)
        self.native.keep.append(kernel)
        words[LAST], words[GOOD] = id(kernel), getattr(kernel, "__module__", None) in OWN
