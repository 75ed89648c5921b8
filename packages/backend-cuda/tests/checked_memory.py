"""Runs the kernels in Triton's interpreter and looks at every load and store: `pytest packages/backend-cuda --check-memory`.

What it finds are faults that results in the interpreter do not show, as its programs run one after the other in host memory:
    outside    a load or store that is in no array, or not in the one whose pointer it began from
    between    a store between the elements of a strided array, where other tensors' elements are
    programs   two programs of a launch that touch the same place, one of them by a plain store (or one by an atomic operation
               and the other without); a race unless an atomic operation that releases and one that acquires come between
    threads    the same of the threads of one program, where no `tl.debug_barrier()` is between
    lanes      two lanes of one store that have the same address and different values
    unwritten  a load of what nobody has written since it was allocated
Each finding names the kernel, its argument, the programs, the element, the kernel's line and who launched it; a test with
findings fails. Nothing outside of the arrays is really touched: such lanes are masked.

How it works: `CheckedRuntime` launches kernels with pointers whose upper 16 bits are the number of the argument, so that each
address tells what it began from, however far it has gone; `_install` takes the numbers off where the interpreter's builder
loads and stores, and lets the `Launch` (checked_launch.py) look first. Addresses that are put into tables
(kernels/multi_tensor.py) get a number where they are asked for. What memory remembers of a launch is in `shadow_memory.py`.
New memory is filled with a pattern that is a NaN to floats: it is found where it is loaded, and spoils results otherwise.

Several programs may store the same value to the same place: it is a fault unless the store's line says why that is meant, in a
comment that begins with "same value". Words of reports (reports.py) are such: who finds something wrong stores a 1.

What it does not see: races in arrays of more than 256 MB; CuPy's and NVIDIA's libraries, which NumPy stands for; whether an
atomic operation's scope reaches other GPUs; which threads the compiler gives an element to (blocks of one shape are taken to be
laid out alike); programs that wait for others, which the interpreter would never end.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from functools import lru_cache
from math import prod

import numpy as np
from checked_launch import FINDINGS, PLAIN, SHIFT, Launch
from shadow_memory import bounds, forget

from tenfold.cpu.backend import owner_of
from tenfold.cuda import interpreter, runtime

FIRST = 1 << 12  # numbers of arrays whose addresses are in tables; arguments have smaller ones
TABLES = ("multi_tensor", "optim")  # modules of kernels/ that ask for addresses to put them into tables
PROGRAMS = 64  # of a generated kernel at most: with more elements, its programs are larger than on a GPU
_state = {"launch": None}


@lru_cache(maxsize=1)
def _install():
    """Let the interpreter's builder ask the current launch. Triton 3.6 to 3.9 differ in what follows the arguments named here."""
    interpreter._prepare()
    from triton.runtime.interpreter import InterpreterBuilder as Builder, TensorHandle, tl

    load, store, barrier, index = (
        Builder.create_masked_load,
        Builder.create_masked_store,
        Builder.create_barrier,
        Builder.set_grid_idx,
    )
    rmw, cas = Builder.create_atomic_rmw, Builder.create_atomic_cas

    def looked(kind, pointers, mask, values=None):
        """(pointers without numbers, mask without lanes that must not be done)."""
        launch, element = _state["launch"], pointers.get_element_ty()
        if launch is None:
            return pointers, mask
        size = max(1, element.primitive_bitwidth // 8)
        allowed = launch.access(kind, pointers.data, mask.data, size, values)
        return TensorHandle(pointers.data & PLAIN, pointers.dtype), TensorHandle(allowed, tl.int1)

    def create_masked_load(self, pointers, mask, other, *options, **named):
        return load(self, *looked("load", pointers, mask), other, *options, **named)

    def create_masked_store(self, pointers, value, mask, *options, **named):
        pointers, mask = looked("store", pointers, mask, value.data)
        return store(self, pointers, value, mask, *options, **named)

    def create_atomic_rmw(self, operation, pointers, value, mask, sem, scope):
        launch = _state["launch"]
        if launch is not None:
            launch.synchronize(pointers.data, mask.data, sem, scope, True)
        plain, allowed = looked("atomic operation", pointers, mask)
        result = rmw(self, operation, plain, value, allowed, sem, scope)
        if launch is not None:
            launch.synchronize(pointers.data, mask.data, sem, scope, False)
        return result

    def create_atomic_cas(self, pointers, compared, value, sem, scope):
        launch, all_lanes = _state["launch"], TensorHandle(np.ones(pointers.data.shape, bool), tl.int1)
        if launch is not None:
            launch.synchronize(pointers.data, True, sem, scope, True)
        result = cas(self, looked("atomic operation", pointers, all_lanes)[0], compared, value, sem, scope)
        if launch is not None:
            launch.synchronize(pointers.data, True, sem, scope, False)
        return result

    def create_barrier(self, *options):
        if _state["launch"] is not None:
            _state["launch"].order.next()
        return barrier(self, *options)

    def set_grid_idx(self, x, y, z):
        if _state["launch"] is not None:
            _state["launch"].start(x, y, z)
        return index(self, x, y, z)

    for made in (create_masked_load, create_masked_store, create_atomic_rmw, create_atomic_cas, create_barrier, set_grid_idx):
        setattr(Builder, made.__name__, made)


class CheckedRuntime(interpreter.InterpretedRuntime):
    """The interpreter with a look at memory."""

    def __init__(self):
        _install()
        self.known = {}  # by number: what tables refer to
        self.numbers = {}

    def empty(self, shape, dtype, index):
        return forget(super().empty(shape, dtype, index))

    def pointer(self, array):
        named = sys._getframe(1).f_globals["__name__"].rpartition(".")[2] in TABLES
        return self.numbered(array) if named else super().pointer(array)

    def pointers(self, arrays):
        """Those of a table's arrays."""
        return [self.numbered(a) for a in arrays]

    def numbered(self, array):
        """The address with the array's number in its upper bits."""
        address, owner = super().pointer(array), owner_of(array)
        key = (*bounds(array), array.itemsize, id(owner))
        number = self.numbers.get(key)
        if number is None or self.known[number][0]() is not owner:
            number = self.numbers[key] = FIRST + len(self.known) % (FIRST * 6)
            self.known[number] = (weakref.ref(owner), *key[:3])
        return address + (number << int(SHIFT))

    def launch_grid(self, kernel, signature, arguments, grid, index):
        names = kernel.arguments()
        self._run(kernel, names, signature, arguments, grid, kernel.constants())

    def launch(self, kernel, signature, arguments, count, index):
        block, tiled = kernel.constants()["BLOCK"], any(getattr(kernel, "tile", ()))  # of tiles the programs are counted
        while not tiled and -(-count // block) > PROGRAMS:
            block *= 2
        self._run(kernel, kernel.arguments(), signature, arguments, (-(-count // block),), {"BLOCK": block})

    def _run(self, kernel, names, signature, arguments, grid, constants):
        if not prod(grid):
            return
        launch = Launch(kernel, (*grid, 1, 1)[:3], self.known)
        FINDINGS.launches += 1
        values = {name: launch.argument(name, kind, x) for name, kind, x in zip(names, signature, arguments)}
        _state["launch"] = launch
        try:
            with np.errstate(all="ignore"):
                interpreter.interpreted(kernel)[grid](**values, **constants)
        finally:
            _state["launch"] = None


def use(now=None):
    """Check all launches from now on."""
    runtime.replace(now or CheckedRuntime())
    runtime.xp.empty = lambda *arguments, **options: forget(np.empty(*arguments, **options))  # until another runtime is used


@contextlib.contextmanager
def checked():
    """Check the launches of a block; its findings come as the value."""
    before, found = runtime._state["runtime"], []
    FINDINGS.take()
    use()
    try:
        yield found
        found += FINDINGS.take()
    finally:
        runtime.replace(before)
