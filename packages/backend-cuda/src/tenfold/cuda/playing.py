"""Calls that are played again: what a kernel's function did for arrays that lay so, it does for the next ones that lie so.

A function whose launches follow from how its arrays lie (shapes, strides, dtypes, alignment), from its other arguments and from
switches says so (`played`). Its second call of a kind is recorded: the memory that it takes, the kernels and products that it
starts, of which array each address is, the results. Later calls take memory and start, and decide nothing. Whatever
else a function does is not seen here: it may not copy, wait, or launch by CuPy's own kernels; what is known to do so spoils the
recording (`spoil`), and tests compare the work of played and unplayed calls.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import wraps
from math import copysign
from typing import Any, NamedTuple

from tenfold.cuda import reports, runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels.recycling import SMALL, idle, keep, ring_of
from tenfold.cuda.recordings import RECORDINGS, Step
from tenfold.dispatch.meta import contiguous_strides

MOST = 4096  # kinds of calls that are kept of a function
ALIGNMENT = 255  # the bits of an address that libraries look at
UNIT = 512  # bytes: memory that is taken begins at multiples of it
NUMBER = 0  # the base of what is no array's: numbers, and addresses that stay
SEEN = object()  # what is kept of a kind of calls that has come once
_tables: list[dict[Any, Any]] = []


def forget() -> None:
    """Forget all calls: something that they have decided by has changed."""
    for table in _tables:
        table.clear()


runtime.AFTER_FORK.append(forget)
runtime.ON_REPLACE.append(forget)


class Result(NamedTuple):
    """An array that a call gives."""

    base: int
    offset: int
    shape: tuple[int, ...]
    dtype: Any
    strides: tuple[int, ...] | None  # None: row-major


class Recording:
    """What a call does, while it does it."""

    def __init__(self, arrays: list[Any], index: int) -> None:
        self.thread, self.index = threading.get_ident(), index
        self.arrays = arrays
        self.taken: list[Any] = []  # held, so that no two share addresses
        self.steps: list[Step] = []
        self.held: list[Any] = []  # constants, which are held by what is played
        self.spoiled = any(not x.size for x in arrays)

    def origin(self, pointer: int) -> tuple[int, int]:
        """(number of the array among those given and taken, bytes from its first element) of an address."""
        for k, x in enumerate(self.taken, len(self.arrays) + 1):
            if 0 <= pointer - x.data.ptr < x.nbytes:
                return k, pointer - x.data.ptr
        first = [k for k, x in enumerate(self.arrays, 1) if x.data.ptr == pointer]
        inside = [k for k, x in enumerate(self.arrays, 1) if x.data.ptr != pointer and _has(x, pointer)]
        if first and not inside:
            return first[0], 0
        if len(inside) != 1 or first:  # of no array, or of which one cannot be told
            return NUMBER, pointer
        return inside[0], pointer - self.arrays[inside[0] - 1].data.ptr

    def started(self, step: Step) -> None:
        """Note a launch, whose addresses come from arrays or stay."""
        self.spoiled |= step.index != self.index or not all(self.stays(p) for p in step.pointers if self.origin(p)[0] == NUMBER)
        self.steps.append(step)

    def stays(self, pointer: int) -> bool:
        """Whether an address is that of memory which is kept: counters and reports as long as the process runs, constants."""
        from tenfold.cuda.kernels.counters import known  # which needs the runtime that records

        kept = known(self.index), reports.words(runtime.current()), *self.held
        return pointer == 0 or any(x is not None and x.data.ptr == pointer for x in kept)

    def result(self, x: Any) -> Result | None:
        """How a result is made again."""
        if x is None:
            return None
        base, offset = self.origin(x.data.ptr)
        self.spoiled |= base == NUMBER or not x.size
        plain = x.strides == contiguous_strides(x.shape, x.dtype.itemsize)
        return Result(base, offset, x.shape, x.dtype, None if plain else x.strides)


def _has(x: Any, pointer: int) -> bool:
    """Whether an address is that of an element of an array (one whose elements do not overlap, as those of all arrays here)."""
    left = pointer - x.data.ptr - sum((n - 1) * s for n, s in zip(x.shape, x.strides) if s < 0)
    if left < 0:
        return False
    for step, n in sorted(((abs(s), n) for n, s in zip(x.shape, x.strides) if s), reverse=True):
        left -= min(left // step, n - 1) * step
    return bool(left == 0)


class Played:
    """A call as it is played: memory is taken, kernels and products are started, results are made."""

    __slots__ = ("held", "most", "one", "plain", "results", "rings", "sizes", "steps")

    def __init__(self, recording: Recording, found: Any, most: int) -> None:
        self.held = recording.held
        self.most = most  # bytes beyond which results do not come back
        self.one = not isinstance(found, (tuple, list))
        results = [recording.result(x) for x in ((found,) if self.one else found)]
        first, count = len(recording.arrays) + 1, len(recording.taken)
        kept = [r.base for r in results if r is not None and r.base >= first]
        # Results that are memory of their own as it is taken, first; then the memory of others, last what nobody keeps.
        plain = [r for r in results if r is not None and kept.count(r.base) == 1 and not r.offset and r.strides is None]
        self.plain = [(r.shape, r.dtype, recording.taken[r.base - first].nbytes) for r in plain]
        self.rings: dict[int, deque[Any]] = {}
        places = {r.base: (first + k, 0) for k, r in enumerate(plain)}
        self.sizes = []
        for base in dict.fromkeys(kept):
            if base not in places:
                places[base] = first + len(places), 0
                self.sizes.append(recording.taken[base - first].nbytes)
        last, total = first + len(places), 0
        for base, x in enumerate(recording.taken, first):
            if base not in places:
                places[base] = last, total
                total += -(-x.nbytes // UNIT) * UNIT
        assert len(places) == count
        self.sizes += [total] if total else []

        def moved(base: int, offset: int) -> tuple[int, int]:
            place, before = places.get(base, (base, 0))
            return place, before + offset

        self.steps = [step.placed(lambda pointer: moved(*recording.origin(pointer))) for step in recording.steps]
        self.results: list[Any] = [r if r is None or r not in plain else plain.index(r) for r in results]
        self.results = [r._replace(base=moved(r.base, 0)[0]) if isinstance(r, Result) else r for r in self.results]

    def play(self, tools: Tools, datas: list[Any], bases: list[int], stream: int) -> Any:
        """The results for arrays at these addresses; NotImplemented where a product is refused after all."""
        for release in runtime.BEFORE_ALLOCATION:
            release()
        made = []
        for k, (shape, dtype, size_bytes) in enumerate(self.plain):
            array = self.made(tools, k, shape, dtype, size_bytes)
            made.append(array)
            datas.append(None)
            bases.append(array.data.ptr)
        for size_bytes in self.sizes:
            memory = tools.alloc(size_bytes)
            datas.append(memory)
            bases.append(memory.ptr)
        for go in self.steps:
            if not go(bases, stream):
                return NotImplemented
        results = [made[r] if type(r) is int else r and self.view(tools, datas[r.base - 1], r) for r in self.results]
        return results[0] if self.one else tuple(results)

    def made(self, tools: Tools, k: int, shape: tuple[int, ...], dtype: Any, size_bytes: int) -> Any:
        """An array for a result: one that is free again, or a new one."""
        if size_bytes > self.most:
            return tools.array_type(shape, dtype, tools.alloc(size_bytes))
        ring = self.rings.get(k) or ring_of(self.rings, k)
        array = idle(ring) if ring else None
        if array is None:
            array = tools.array_type(shape, dtype, tools.alloc(size_bytes))
            keep(ring, array)
        return array

    def view(self, tools: Tools, data: Any, result: Result) -> Any:
        _, offset, shape, dtype, strides = result
        return tools.array_type(shape, dtype, data + offset if offset else data, strides)


class Tools:
    """What CuPy has for a play."""

    __slots__ = ("alloc", "array_type", "device", "stream")

    def __init__(self) -> None:
        cupy = runtime.current().module
        self.alloc, self.array_type = cupy.cuda.alloc, cupy.ndarray
        self.device, self.stream = cupy.cuda.runtime.getDevice, cupy.cuda.get_current_stream


_tools: list[Tools] = []
runtime.ON_REPLACE.append(_tools.clear)
runtime.AFTER_FORK.append(_tools.clear)


def _key(arguments: Any, kind_of_array: type, key: list[Any], arrays: list[Any], datas: list[Any], bases: list[int]) -> None:
    """Collect what a call depends on, and its arrays."""
    for x in arguments:
        kind = type(x)
        if kind is kind_of_array:
            data = x.data
            pointer = data.ptr
            key += (x.shape, x.strides, x.dtype, pointer & ALIGNMENT)
            arrays.append(x)
            datas.append(data)
            bases.append(pointer)
        elif (kind is tuple or kind is list) and (not x or type(x[0]) is int):  # sizes
            key.append(tuple(x))
        elif kind is tuple or kind is list:
            key.append(len(x))
            _key(x, kind_of_array, key, arrays, datas, bases)
        elif kind is float and not x:
            key += (kind, copysign(1.0, x))
        else:
            key += (kind, x)


class Kinds:
    """The kinds of calls of a function, and what is known of each: that it has come once, how it is played, that it cannot be."""

    def __init__(self, inner: Callable[..., Any], most: int) -> None:
        self.inner, self.most = inner, most
        self.known: dict[Any, Any] = {}
        _tables.append(self.known)

    def first(self, key: Any, arrays: list[Any], index: int, arguments: Any) -> Any:
        """The call itself; recorded if it has come once before."""
        if len(self.known) >= MOST:
            self.known.clear()
        if key not in self.known:
            self.known[key] = SEEN
            return self.inner(*arguments)
        recording = Recording(arrays, index)
        RECORDINGS.append(recording)
        try:
            found = self.inner(*arguments)
        finally:
            RECORDINGS.remove(recording)
        results = found if isinstance(found, (tuple, list)) else (found,)
        plain = all(x is None or hasattr(x, "data") for x in results)
        kept = Played(recording, found, self.most) if plain and not recording.spoiled else None
        self.known[key] = None if recording.spoiled else kept
        return found


def played(
    general: Callable[..., Any], switches: Callable[[], Any] | None = None, inner: Callable[..., Any] | None = None,
    recycles: bool = False, writes: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The function, whose calls are played once they have been recorded; `switches` says what else they depend on.

    `inner` is the function where the arrays' GPU is current already. `recycles`: small results that nobody holds any more come
    back, which is not for gradients: to become a parameter's `.grad` as it is, an array must be held by nobody else.
    `writes`: calls with `out=`, the array that comes back, are played, too, where it shares no memory with another argument.
    """
    kinds = Kinds(inner or general, SMALL // 4 if recycles else 0)
    into = _playing(kinds, general, switches)
    if not writes:
        return into
    written = inner or general
    into_one = _playing(
        Kinds(lambda *arguments: written(*arguments[:-1], out=arguments[-1]), 0),
        lambda *arguments: general(*arguments[:-1], out=arguments[-1]), switches,
    )  # fmt: skip

    @wraps(general)
    def call(*arguments: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return into(*arguments, **options)
        if options or CAPTURES or RECORDINGS or runtime.is_replaced() or _shared(arguments, out):
            return general(*arguments, out=out, **options)
        found = into_one(*arguments, out)
        same = found is not NotImplemented and found.data.ptr == out.data.ptr and found.shape == out.shape
        return out if same else found

    return call


def _shared(arguments: Any, out: Any) -> bool:
    """Whether an argument may be of the memory of `out`, but for being `out`: what is done then depends on where they lie."""
    apart, kind = runtime.current().apart, type(out)
    for x in arguments:
        if x is not out and (not apart(x, out) if type(x) is kind else type(x) in (list, tuple) and _shared(x, out)):
            return True
    return False


def _playing(kinds: Kinds, general: Callable[..., Any], switches: Callable[[], Any] | None) -> Callable[..., Any]:
    """The function, whose calls of known kinds are played."""
    known = kinds.known

    @wraps(general)
    def call(*arguments: Any, **options: Any) -> Any:
        if options or CAPTURES or RECORDINGS or runtime.is_replaced():
            return general(*arguments, **options)
        if not _tools:
            _tools.append(Tools())
        tools = _tools[0]
        stream = tools.stream().ptr
        arrays: list[Any] = []
        datas: list[Any] = []
        bases: list[Any] = [0]
        key: list[Any] = [stream, switches() if switches else None]
        _key(arguments, tools.array_type, key, arrays, datas, bases)
        if not datas or (index := datas[0].device_id) != tools.device():
            return general(*arguments)
        if len(set(bases)) <= len(datas):  # two arrays begin at one place
            key.append(tuple(map(bases.index, bases)))
        key.append(index)
        place = tuple(key)
        try:
            found = known.get(place, SEEN)
        except TypeError:  # an argument without a hash
            return general(*arguments)
        if found is None:
            return kinds.inner(*arguments)
        if found is SEEN:
            return kinds.first(place, arrays, index, arguments)
        result = found.play(tools, datas, bases, stream)
        if result is NotImplemented:
            known[place] = None
            return kinds.inner(*arguments)
        return result

    return call
