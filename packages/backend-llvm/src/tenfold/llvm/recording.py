"""What native/recording.ll gives a result's node by: the layout that tenfold-autograd states of a rule, as words."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from tenfold.llvm.slots import places
from tenfold.tensor.storage import Storage

# The words of a rule, as native/recording.ll reads them.
CLASS, EDGES, SAVES, NEXT, EXTRA, SHAPE, NUMBER, FIRST_EDGE, FIRST_SAVE, SAVE_WORDS = 0, 1, 2, 3, 4, 5, 6, 8, 16, 5
MOST = 8  # edges, and saved values
KINDS = {"tensor": 0, "value": 1, "shape": 2}
DATA, RULE = 6, 7  # of the words of a call path


class Recorder:
    """Learns rules when they are first used."""

    def __init__(self, native: Any) -> None:
        self.native = native
        native.point("p_Storage", Storage)
        native.point("p_learn", self.learn)
        native.point("r_zero", 0)
        native.point("r_shape", sys.intern("shape"))
        native.cell("p_version").value = places(Storage, ("version",))["version"]

    def learn(self, path: int, attach: Any) -> None:
        """Note in the words of a call path what a rule's `attach` does, if it is plain."""
        words = (ctypes.c_int64 * (RULE + 1)).from_address(path)
        layout = getattr(attach, "layout", None)
        data = None if layout is None else self.words(layout)
        self.native.keep.append((attach, data))
        words[DATA], words[RULE] = 0 if data is None else data.ctypes.data, id(attach)

    def words(self, layout: Any) -> Any:
        """A layout as words; None where it has too many parts."""
        if max(len(layout.edges), len(layout.saves)) > MOST:
            return None
        self.native.cell("r_active").value = places(type(layout.watch), ("active",))["active"]
        self.native.point("r_watch", layout.watch)
        self.native.point("r_numbers", layout.numbers)
        words = np.zeros(FIRST_SAVE + SAVE_WORDS * MOST, np.int64)
        base = next(c for c in layout.node.__mro__ if "_next" in vars(c))  # the class of all nodes
        found = places(layout.node, ("_next", "_extra", "_shape", "_number"), base)
        words[[CLASS, EDGES, SAVES]] = id(layout.node), len(layout.edges), len(layout.saves)
        words[[NEXT, EXTRA, SHAPE, NUMBER]] = found["_next"], found["_extra"], found["_shape"], found["_number"]
        words[FIRST_EDGE : FIRST_EDGE + len(layout.edges)] = layout.edges
        for k, (kind, argument, name, users) in enumerate(layout.saves):
            slots = places(layout.node, (f"s_{name}", f"v_{name}")[: 1 + (kind == "tensor")])
            at = FIRST_SAVE + SAVE_WORDS * k
            words[at : at + SAVE_WORDS] = KINDS[kind], argument, slots[f"s_{name}"], slots.get(f"v_{name}", 0), users
        self.native.keep.append(layout.node)
        return words
