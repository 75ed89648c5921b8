"""Programs over rows and columns, compiled when first used, and the run of one on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm import compiler, session as sessions
from tenfold.llvm.columns import TILE, Columns
from tenfold.llvm.expressions import listing
from tenfold.llvm.product_rows import ProductRows
from tenfold.llvm.rows import Rows
from tenfold.llvm.storage import BY_DTYPE, Stored
from tenfold.settings.threads import get_num_threads

Array = np.ndarray[Any, Any]
GRAIN_ELEMENTS = 1 << 14  # the work for which a second thread is woken


class Compiled:
    """A function that writes a module, and what was compiled of it.

    `vectors`: that the module has its vectors in it, and its loops need no passes that find some.
    """

    def __init__(self, name: str, write: Callable[..., str], *, vectors: bool = False) -> None:
        self.name, self.write, self.vectors = name, write, vectors
        self._addresses: dict[Any, int] = {}
        self._gates: dict[Any, list[tuple[Array, int]]] = {}  # the words that wait for an address, and where it goes

    def enter(self, key: tuple[Any, ...], words: Array, place: int) -> None:
        """Let a native gate run the program of this key once it is compiled."""
        self._gates.setdefault(key, []).append((words, place))
        words[place] = self._addresses.get(key, 0)

    def text(self, *key: Any) -> str:
        """The module for some arguments of `write`."""
        return self.write(*key)

    def listing(self, *key: Any) -> str:
        """What the module computes, in words."""
        return self.write.__doc__ or ""

    def address(self, *key: Any) -> int:
        """Where the compiled program begins; 0 where it cannot be had."""
        if sessions.USED:
            sessions.use(self, *key)
        found = self._addresses.get(key)
        if found is None:
            try:
                found = compiler.load(self.text(*key), compiler.FEW if self.vectors else compiler.MANY).address("kernel")
            except Exception as error:  # noqa: BLE001 - whatever it is, the kernel beneath serves
                sessions.give_up(f"the kernel of {self.name}", f"{type(error).__name__}: {error}")
                found = 0
            self._addresses[key] = found
            for words, place in self._gates.get(key, ()):
                words[place] = found
        return found

    def known(self, key: tuple[Any, ...]) -> int:
        """Where the program begins if it was compiled; else 0."""
        return self._addresses.get(key, 0)

    def run(self, key: tuple[Any, ...], items: int, grain: int, *arguments: Any) -> bool:
        """Run over some items; False where there is no code."""
        address = self.address(*key)
        if address:
            _launch()(address, items, grain, *arguments)
        return address != 0

    def bound(self, *key: Any) -> Callable[..., bool]:
        """`run` for one key, whose program is looked up by the first call alone."""
        found: tuple[Any, int] | None = None  # replaced as a whole: several threads may come at once

        def run(items: int, grain: int, *arguments: Any) -> bool:
            nonlocal found
            known = found
            if known is None or sessions.USED:
                address = self.address(*key)
                if not address:
                    return False
                found = known = _launch(), address
            known[0](known[1], items, grain, *arguments)
            return True

        return run


class Program(Compiled):
    """A function that makes a program from the dtypes of its arguments, and what was compiled of it."""

    def __init__(self, name: str, make: Callable[..., Rows | Columns | ProductRows]) -> None:
        super().__init__(name, lambda *key: make(*key).text())
        self.make = make

    def listing(self, *key: Any) -> str:
        """The program's results in steps."""
        return listing(*(e for e, _ in self.make(*key).results))

    def rows(self, key: tuple[Any, ...], count: int, length: int, *arguments: Any) -> bool:
        """Run over `count` rows; False where there is no code."""
        address = self.address(*key)
        if address:
            _launch()(address, *over_rows(count, length), *arguments)
        return bool(address)

    def columns(self, key: tuple[Any, ...], parts: int, length: int, width: int, *arguments: Any) -> bool:
        """Run over arrays (parts, length, width)."""
        address = self.address(*key)
        if address:
            _launch()(address, *over_columns(parts, length, width), *arguments)
        return bool(address)


def over_rows(count: int, length: int) -> tuple[int, ...]:
    """Items, the fewest of a thread, and the sizes that a program over rows gets."""
    return count, max(1, GRAIN_ELEMENTS // max(1, length)), length


def over_columns(parts: int, length: int, width: int) -> tuple[int, ...]:
    """The same for a program over the columns of arrays (parts, length, width)."""
    tile, threads = min(TILE, width), get_num_threads()
    if parts < threads:  # each thread two shares, in whole lines of the cache
        tile = min(TILE, -(-width // (2 * threads)) + 63 & -64)
    return parts * -(-width // tile), max(1, GRAIN_ELEMENTS // max(1, length * tile)), length, width, tile


def _launch() -> Any:
    session = sessions.session()
    assert session is not None
    return session.launch


def allocator(size_bytes: int) -> Callable[..., Array]:
    """What makes new arrays of this size, as `np.empty` does."""
    session = sessions.session()
    assert session is not None
    found: Callable[..., Array] = session.memory.allocator(size_bytes)
    return found


def empty(shape: Any, stored: Stored) -> Array:
    """A new array for a result."""
    session = sessions.session()
    assert session is not None
    made: Array = session.memory.empty(shape, stored.dtype)
    return made


def suitable(*arrays: Any) -> Stored | None:
    """The dtype of arrays that lie in one piece and agree in it, if programs are made for it; absent ones are None."""
    found = None
    for a in arrays:
        if a is not None:
            if type(a) is not np.ndarray or not a.flags.carray:
                return None
            stored = BY_DTYPE.get(a.dtype)
            if stored is None or stored.dtype.kind == "b" or (found is not None and stored is not found):
                return None
            found = stored
    return found
