"""Compiled draws: what makes many random numbers for `tenfold.random`, and the call paths of `rand` and `randn`.

The stream stays the generator's: native/random.ll draws from the state of its engine, NumPy's Mersenne Twister, under the
lock of all generators, so that states, seeds and forks are what they are, and the numbers the same bit by bit.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.dispatch.operators import op
from tenfold.llvm.session import give_up
from tenfold.llvm.slots import places
from tenfold.random import generator as generators, sampling, shuffle
from tenfold.random.ahead import BLOCK, LOCK
from tenfold.random.generator import Generator, default_generator

WORDS, UNITS32, UNITS64, NORMALS32, NORMALS64 = range(5)  # the kinds of native/random.ll's `draws`
FIELDS = {"engine": "_engine", "ahead": "_ahead", "normal": "normal_sample", "fresh": "_fresh", "position": "_position"}
PATIENCE = 32  # how often words drawn ahead are let alone before they are given back
_WIDE = np.dtype(np.float64)


class Draws:
    """Draws by native code."""

    def __init__(self, session: Any) -> None:
        self.native = session.native
        self.draws = session.native.builtin("draws", None, 0)
        self.swap = session.native.builtin("swap", None, 0)
        self.beneath = sampling.filled, shuffle.swapped, generators.integers
        self.units_beneath = sampling.units64
        self.misses = 0
        engines = np.random.MT19937(1), np.random.MT19937(1)
        if (self.integers(engines[0])(0, 1 << 32, 700, np.uint32) != engines[1].random_raw(700)).any():
            raise RuntimeError("this NumPy keeps the state of its generators in another way than tenfold.llvm expects")

    def integers(self, engine: Any) -> Any:
        """What draws many words from an engine, called as NumPy's `integers` is."""
        address = engine.ctypes.state_address

        def words(low: int, high: int, count: int, dtype: Any) -> NDArray[np.uint32]:
            made = np.empty(count, np.uint32)
            self.draws(WORDS, address, made)
            return made

        return words

    def filled(self, generator: Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """At least 16 normals, in blocks of 16."""
        if dtype.itemsize == 2:  # these do not draw what is drawn anew
            return self.beneath[0](generator, count, dtype)
        z = np.empty(count, dtype if dtype == _WIDE else np.float32)
        drawn = (count + 16 * (count % 16 > 0)) * (1 + (dtype == _WIDE))
        with LOCK:
            if generator._ahead is not None:
                generator.restore_engine(generator.engine_state())
            engine = generator._started()
            generator._few_draws, generator._fresh = 0, False
            generator._position = (generator._position + drawn) % BLOCK
            self.draws(NORMALS64 if dtype == _WIDE else NORMALS32, engine.ctypes.state_address, z)
        return z

    def units64(self, generator: Generator, count: int) -> NDArray[np.float64]:
        """Uniforms of 53 bits; where words were drawn ahead, they come first."""
        if generator._ahead is not None or not count:
            return self.units_beneath(generator, count)
        z = np.empty(count)
        with LOCK:
            engine = generator._started()
            generator._few_draws, generator._fresh = 0, False
            generator._position = (generator._position + 2 * count) % BLOCK
            self.draws(UNITS64, engine.ctypes.state_address, z)
        return z

    def swapped(self, targets: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """The items 0 to n - 1 after swapping positions i and targets[i] for i = 0, 1, …"""
        items = np.arange(n)
        self.swap(items, np.ascontiguousarray(targets, np.int64))
        return items

    def look(self) -> None:
        """Note the default generator's engine for the call paths; words drawn ahead are given back now and then."""
        if default_generator._ahead is not None:
            self.misses += 1
            if self.misses % PATIENCE:
                return
            default_generator.restore_engine(default_generator.engine_state())
        engine = default_generator._started()
        self.engine = engine  # which stays alive while native code knows its address
        self.native.cell("d_engine").value = id(engine)
        self.native.cell("d_words").value = engine.ctypes.state_address

    def lead(self, paths: Any) -> None:
        """Give `rand` and `randn` native call paths."""
        owner = _place_of_owner()
        if owner is None:
            return
        self.native.point("d_generator", default_generator)
        self.native.point("d_look", self.look)
        for field, place in places(Generator, tuple(FIELDS.values())).items():
            name = next(name for name, slot in FIELDS.items() if slot == field)
            self.native.cell(f"d_{name}_at").value = place
        self.native.cell("d_owner").value = owner
        self.look()
        for operator in (op.rand, op.randn):
            paths.lead(operator.fn, f"path_{operator.name}")


def install(session: Any) -> None:
    """Let compiled code draw, where there is some."""
    if session is None:
        return
    try:
        made = Draws(session)
    except RuntimeError as error:
        give_up("compiled draws", str(error))
        return
    sampling.filled, sampling.units64, generators.integers = made.filled, made.units64, made.integers
    sampling.swapped = made.swapped  # type: ignore[attr-defined]
    if session.paths is not None:
        made.lead(session.paths)


def _place_of_owner() -> int | None:
    """The address where the generators' lock has the thread that holds it, found by taking it."""
    words = (ctypes.c_uint64 * (LOCK.__sizeof__() // 8)).from_address(id(LOCK))
    before = list(words)
    with LOCK:
        held = [k for k in range(2, len(words)) if words[k] == threading.get_ident() and not before[k]]
    free = [k for k in held if not words[k]]
    return ctypes.addressof(words) + 8 * free[0] if len(free) == 1 else None
