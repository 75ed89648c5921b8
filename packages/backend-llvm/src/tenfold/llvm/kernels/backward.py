"""The backward pass of tenfold-autograd in native code (native/walk.ll), where there are native call paths."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.slots import places
from tenfold.tensor.tensor import Tensor

# The words of a class of nodes, as native/walk.ll reads them.
KIND, KEEPS, WORDS = 0, 1, 2
CLASSES = 1024  # places in its table of classes
MULTIPLIER, LOW = 0x9E3779B97F4A7C15, 2**64 - 1
GENERATED = "tenfold.dispatch.operators"  # the module that classes made for operators are in, which live as long as the process


class Walker:
    """Tells native code what nodes are, and attaches its walk."""

    def __init__(self, native: Any) -> None:
        from tenfold.autograd import nodes, walking  # of an optional package, which has called this
        from tenfold.autograd.rules import passing

        self.native, self.kind, self.known = native, walking.kind, 0
        self.table = (ctypes.c_int64 * (2 * CLASSES)).from_address(native.code.variable("w_classes"))
        for name, value in {
            "w_learn": self.learn, "w_fit": walking.fit, "w_more": walking.more, "w_visit": walking.visit,
            "w_leaf": walking.accumulate, "w_catch": walking.catch, "w_add": op.add.fn, "w_add_in_place": op.add_.fn,
            "w_apply": sys.intern("apply"), "w_release": sys.intern("release"), "w_RuntimeError": RuntimeError,
        }.items():  # fmt: skip
            native.point(name, value)
        found = places(nodes.Node, ("_next", "_extra", "_number", "_shape"))
        found.update(places(nodes.AccumulateGrad, ("ref",)), **places(nodes.Output, ("parent", "index")))
        found["grad"] = places(Tensor, ("_grad",))["_grad"]
        for field, offset in found.items():
            native.cell(f"w_{field.removeprefix('_')}").value = offset
        walking.register_walk(native.builtin("walk", None, 0))
        native.point("a_sum", sys.intern("sum"))
        native.point("a_mm", sys.intern("mm"))
        passing.TOGETHER["linear"] = native.builtin("linear_grads", None, 0)

    def learn(self, node: Any) -> int:
        """What a node is; or where the words of its class are, noted for all nodes to come."""
        cls, kind = type(node), self.kind(node)
        if cls.__module__ not in (GENERATED, "tenfold.autograd.nodes") or self.known >= CLASSES // 2:
            return int(kind)
        words = np.zeros(WORDS, np.int64)
        words[KIND], words[KEEPS] = kind, cls.keeps
        self.native.keep.append((cls, words))
        place = (id(cls) * MULTIPLIER & LOW) >> 32
        while self.table[2 * (place % CLASSES)]:
            place += 1
        self.table[2 * (place % CLASSES) + 1], self.table[2 * (place % CLASSES)] = words.ctypes.data, id(cls)
        self.known += 1
        return int(words.ctypes.data)


def attach() -> None:
    """Give tenfold-autograd, which asks for this module, the walk."""
    session = sessions.session()
    if session is not None and session.paths is not None:
        session.paths.look_for_parameters()
        Walker(session.native)


attach()
