"""Elementwise operators: a formula, a compiled loop for each dtype and layout in use, and the native gate before them.

The gate (native/calls.ll) serves arrays that lie in one piece and have one shape and dtype. `Operator.serve` has the rest:
NumPy's iterator finds the order in which to go through strided and broadcast arrays, and the shape and layout of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, prod
from typing import Any

import numpy as np

from tenfold.dispatch.layout import result_order
from tenfold.llvm import compiler, session as sessions
from tenfold.llvm.expressions import Expr, listing, load, parameter
from tenfold.llvm.layouts import Layouts, geometry_of, order_of, spread, step_of
from tenfold.llvm.loops import Cases, Elementwise
from tenfold.llvm.memory import CACHED_FROM
from tenfold.llvm.storage import BOOL, BY_DTYPE, FLOATING, Stored

Formula = Callable[..., Expr | Cases]
Array = np.ndarray[Any, Any]

# The words of a gate, as native/calls.ll reads them.
BENEATH, SERVE, ARGUMENTS, LEAST, SERVE_LEAST, GRAIN, COMPILE_LEAST, SMALL_CALLS = range(8)
DTYPES, RESULTS, LOOPS, ROLES, FIXED, CACHED, HIGHEST, ODD = 8, 12, 16, 32, 40, 48, 52, 56
SPREAD = 92  # loops for arrays that are broadcast, as native/spreading.ll has them
WORDS = 220
STEPS = ("next", "same", "far")
# What a parameter takes: an array of the common dtype; that or a number; a number; one object only; an array of bool.
TENSOR, EITHER, NUMBER, ONLY, MASK = range(1, 6)
ROLE_OF = {"x": TENSOR, "y": EITHER, "n": NUMBER, "r": NUMBER, "o": ONLY, "m": MASK}

GRAIN_ELEMENTS = 1 << 14  # below it one thread is as fast as two, and the interpreter's lock is kept
COMPILED_FROM = 1 << 12  # elements for which an exact operation is worth compiling
MANY_CALLS = 500  # on fewer elements, after which it is, too
STRIDED_FROM = 1 << 13  # elements from which an exact operation on strided arrays is worth the planning in Python
MOST_PLANS = 4096
NEVER = 1 << 62


class Operator:
    """An operator's formula and the loops compiled from it.

    `roles` has a letter for each parameter of the kernel: x an array, y an array or a number, n a number, r a number that
    is rounded to the elements' dtype first, m an array of bool, o an object that `only` gives. The formula gets the elements
    and numbers in the parameters' order. `exact` says that NumPy's kernel gives the same bits, so that it may serve small
    strided arrays; `bool_result`, that the result is of bool;
    `dtypes`, which are served; `least`, from how many elements; `refuses`, which arguments of several layouts are not;
    `patience`, how many calls on few elements an exact operation waits until it is compiled, fewer where NumPy's kernel is slow;
    `highest`, the largest finite number beside a dtype's elements: others are left to the kernel beneath, which may refuse them;
    `after`, what is done to the formula's result, which of arrays alone is rounded to the elements' dtype before.
    """

    def __init__(
        self,
        name: str,
        formula: Formula,
        roles: str = "x",
        *,
        only: tuple[Any, ...] = (),
        exact: bool = False,
        bool_result: bool = False,
        dtypes: tuple[Stored, ...] = FLOATING,
        least: int = 0,
        refuses: Callable[..., bool] | None = None,
        highest: Mapping[Stored, float] = {},
        patience: int = MANY_CALLS,
        after: Callable[[Expr], Expr] | None = None,
    ) -> None:
        self.after = after
        self.refuses, self.highest, self.patience = refuses, highest, patience
        self.name, self.formula, self.roles, self.only = name, formula, [ROLE_OF[letter] for letter in roles], only
        self.rounded = [letter == "r" for letter in roles]
        self.exact, self.bool_result, self.dtypes, self.least = exact, bool_result, dtypes, least
        self.tables: list[Array] = []
        self._loops: dict[Any, int] = {}
        self._plans: dict[Any, Any] = {}  # of two arrays that are broadcast
        self._layouts: Layouts | None = None  # of other calls with new results

    # What is compiled

    def expression(self, stored: Stored, numbers: tuple[bool, ...]) -> Elementwise:
        """The formula for a dtype; `numbers` says of each parameter that takes either whether it is a number."""
        inputs: list[Stored] = []
        values: list[Expr] = []
        count = 0
        either = iter(numbers)
        for role, rounded in zip(self.roles, self.rounded):
            if role == NUMBER or (role == EITHER and next(either)):
                number = parameter(count, stored.computed)
                values.append(stored.held(number) if rounded else number)
                count += 1
            elif role != ONLY:
                kind = BOOL if role == MASK else stored
                values.append(load(len(inputs), kind.computed))
                inputs.append(kind)
        result = self.formula(*values)
        if self.after is not None and not isinstance(result, Cases):
            result = self.after(result if count else stored.held(result))
        return Elementwise(result, BOOL if self.bool_result else stored, tuple(inputs), count)

    def listing(self, stored: Stored, numbers: tuple[bool, ...], steps: tuple[str, ...] | None) -> str:
        """The formula in steps."""
        result = self.expression(stored, numbers).result
        return listing(result.most if isinstance(result, Cases) else result)

    def text(self, stored: Stored, numbers: tuple[bool, ...], steps: tuple[str, ...] | None) -> str:
        """The module for a dtype and a layout; steps of None: in one piece."""
        return self.expression(stored, numbers).text(steps)

    def loop(self, stored: Stored, numbers: tuple[bool, ...], steps: tuple[str, ...] | None) -> int:
        """The address of the loop for a dtype and a layout; 0 where it cannot be had."""
        sessions.use(self, stored, numbers, steps)
        key = (stored.memory, numbers, steps)
        found = self._loops.get(key)
        if found is None:
            try:
                found = compiler.load(self.text(stored, numbers, steps)).address("kernel")
            except Exception as error:  # noqa: BLE001 - whatever it is, the kernel beneath serves
                sessions.give_up(f"the kernel of {self.name}", f"{type(error).__name__}: {error}")
                found = 0
            self._loops[key] = found
            for words in self.tables:
                self._enter(words, stored, numbers, steps, found)
        return found

    def _enter(
        self, words: Array, stored: Stored, numbers: tuple[bool, ...], steps: tuple[str, ...] | None, address: int
    ) -> None:
        dtype, variant = self.dtypes.index(stored), sum(1 << i for i, is_number in enumerate(numbers) if is_number)
        if steps is None:
            words[LOOPS + 4 * dtype + variant] = address
        elif steps[0] != "next":
            return
        else:  # of the arrays one may lie otherwise than the result
            for place in range(min(3, len(steps) - 1)):
                if not variant and all(step == "next" for i, step in enumerate(steps) if i != place + 1):
                    words[ODD + 9 * dtype + 3 * place + STEPS.index(steps[place + 1])] = address
            if self.refuses is None and len(steps) <= 4 and variant < 4 and "far" not in steps:
                still = sum(1 << i for i, step in enumerate(steps[1:]) if step == "same")
                words[SPREAD + 32 * variant + 8 * dtype + still] = address
        words[SMALL_CALLS] = self.patience if self.exact else 0  # until the loop for another dtype is worth it

    # What is called

    def wrap(self, beneath: Any) -> Any:
        """The kernel around the one beneath it."""
        session = sessions.session()
        if session is None:
            return beneath

        plan_of, launch = self._plans.get, session.launch
        seen = self._layouts = self._layouts or Layouts(launch, GRAIN_ELEMENTS)  # one for all kernels beneath

        def serve(*arguments: Any, out: Any = None) -> Any:
            if out is None and len(arguments) == 2:  # in one piece, and of shapes that a call had before
                a, b = arguments
                if type(a) is np.ndarray and type(b) is np.ndarray:
                    plan = plan_of((a.shape, b.shape, a.dtype, b.dtype))
                    if plan is not None and a.flags.carray and b.flags.carray:
                        address, make, shape, dtype, size, geometry = plan
                        made = make(shape, dtype)
                        launch(address, size, GRAIN_ELEMENTS, made, a, b, *geometry)
                        return made
            if out is None:
                found = seen.call(arguments)
                if found is not NotImplemented:
                    return found
            return self.serve(arguments, out)

        serve_least = STRIDED_FROM if self.exact else max(1, self.least)
        words = gate_words(session, beneath, serve, self.roles, self.dtypes, least=self.least, serve_least=serve_least)
        words[COMPILE_LEAST], words[SMALL_CALLS] = (COMPILED_FROM, self.patience) if self.exact else (0, 0)
        for i, stored in enumerate(self.dtypes):
            result = BOOL if self.bool_result else stored
            words[RESULTS + i], words[CACHED + i] = id(result.dtype), CACHED_FROM // result.size
            words[HIGHEST + i] = np.float64(self.highest.get(stored, inf)).view(np.int64)
        fixed = iter(self.only)
        for i, role in enumerate(self.roles):
            words[FIXED + i] = id(next(fixed)) if role == ONLY else 0
        self.tables.append(words)
        for (memory, numbers, steps), address in self._loops.items():
            self._enter(words, next(s for s in self.dtypes if s.memory == memory), numbers, steps, address)
        return session.native.builtin("gate", words)

    def serve(self, arguments: tuple[Any, ...], out: Any) -> Any:
        """The result for arrays of any layout, or NotImplemented."""
        if self.refuses is not None and self.refuses(*arguments):
            return NotImplemented
        fixed = iter(self.only)
        arrays: list[Any] = []
        numbers: list[bool] = []
        given: list[float] = []
        stored: Stored | None = None
        for role, value in zip(self.roles, arguments):
            if role == ONLY:
                if value is not next(fixed):
                    return NotImplemented
            elif type(value) is np.ndarray and role != NUMBER:
                kind = BY_DTYPE.get(value.dtype)
                if role == MASK:
                    if kind is not BOOL:
                        return NotImplemented
                elif kind not in self.dtypes or (stored is not None and kind is not stored):
                    return NotImplemented
                else:
                    stored = kind
                if not value.flags.aligned:
                    value = value.copy()
                arrays.append(value)
                numbers += [False] * (role == EITHER)
            elif type(value) in (int, float) and role in (EITHER, NUMBER):
                given.append(float(value)) if abs(value) <= 2.0**53 or type(value) is float else given.clear()
                if not given:
                    return NotImplemented
                numbers += [True] * (role == EITHER)
            else:
                return NotImplemented
        return (
            self._run(stored, arguments, arrays, tuple(numbers), given, out)
            if stored is not None and self._holds(stored, given)
            else NotImplemented
        )

    def _holds(self, stored: Stored, given: list[float]) -> bool:
        highest = self.highest.get(stored, inf)
        return not any(highest < abs(number) < inf for number in given)

    def _run(
        self, stored: Stored, arguments: Any, arrays: list[Array], numbers: tuple[bool, ...], given: list[float], out: Any
    ) -> Any:
        session = sessions.session()
        assert session is not None
        result = BOOL if self.bool_result else stored
        order = order_of(arrays)
        if order is not None:
            back = tuple(np.argsort(order))
            turned = [a.transpose(order) for a in arrays]
            into = out.transpose(order) if type(out) is np.ndarray and out.ndim == len(order) else out
            if _alike(turned) and (out is None or _takes(into, turned, result)):
                made = self._run(stored, arguments, turned, numbers, given, into)
                return made if made is NotImplemented else made.transpose(back) if out is None else out
        if _alike(arrays) and (out is None or _takes(out, arrays, result)):
            address = self.loop(stored, numbers, None)
            if not address:
                return NotImplemented
            made = session.memory.empty(arrays[0].shape, result.dtype) if out is None else out
            session.launch(address, made.size, GRAIN_ELEMENTS, made, *arrays, *given)
            return made
        if out is None and all(a.flags.c_contiguous for a in arrays):
            broadcast = spread(tuple(a.shape for a in arrays), (result.size, *(a.itemsize for a in arrays)))
            if broadcast is not None:
                shape, steps, geometry = broadcast
                address = self.loop(stored, numbers, steps)
                if not address:
                    return NotImplemented
                made = session.memory.empty(shape, result.dtype)
                session.launch(address, made.size, GRAIN_ELEMENTS, made, *arrays, *given, *geometry)
                if len(arrays) == len(self.roles) == 2 and self.refuses is None and len(self._plans) < MOST_PLANS:
                    key = tuple(a.shape for a in arrays) + tuple(a.dtype for a in arrays)
                    make = session.memory.allocator(made.nbytes)
                    self._plans[key] = address, make, shape, result.dtype, made.size, geometry
                else:
                    self._note(stored, arguments, address, made, geometry)
                return made
        if out is not None and (type(out) is not np.ndarray or out.dtype != result.dtype or not out.flags.aligned):
            return NotImplemented
        if out is None:
            return self._iterated(stored, arguments, arrays, numbers, given)
        fits = np.broadcast(*arrays).shape == out.shape  # the kernel beneath has the words of an error
        done = self._iterate(np.nditer, stored, arrays, numbers, given, out) if fits else None
        return NotImplemented if done is None else out

    def _iterated(self, stored: Stored, arguments: Any, arrays: list[Array], numbers: Any, given: list[float]) -> Any:
        """A new result of arrays of any layout, whose plan is kept."""
        session = sessions.session()
        assert session is not None
        result, shape = BOOL if self.bool_result else stored, np.broadcast(*arrays).shape
        # The result lies in the order that it has to have; what an iterator prefers would be copied.
        order, back = result_order(shape, *[(a.shape, a.strides, a.itemsize) for a in arrays if a.ndim])
        turned = [np.broadcast_to(a, shape).transpose(order) for a in arrays]
        make = session.memory.nditer if prod(shape) * result.size >= CACHED_FROM else np.nditer
        made = self._iterate(make, stored, turned, numbers, given, None)
        if made is None:
            return NotImplemented
        array, address, geometry = made
        array = array.transpose(back)
        if address:
            self._note(stored, arguments, address, array, geometry)
        return array

    def _iterate(
        self, make: Any, stored: Stored, arrays: list[Array], numbers: Any, given: list[float], out: Any
    ) -> tuple[Array, int, list[int]] | None:
        """The result in the order of the arrays' dimensions, with the loop and its geometry; None: there is no loop."""
        session = sessions.session()
        assert session is not None
        result = BOOL if self.bool_result else stored
        reads = ["readonly", "overlap_assume_elementwise"]
        iterator = make(
            [out, *arrays],
            ["external_loop", "zerosize_ok", "copy_if_overlap"],
            [["writeonly", "allocate", "no_broadcast", "overlap_assume_elementwise"], *[reads] * len(arrays)],
            [result.dtype, *(a.dtype for a in arrays)],
        )
        with iterator:
            made = iterator.operands[0]
            if not made.size:
                return made, 0, []
            views = iterator.itviews
            address = self.loop(stored, numbers, tuple(step_of(v) for v in views))
            if not address:
                return None
            geometry = geometry_of(views)
            session.launch(address, made.size, GRAIN_ELEMENTS, *views, *given, *geometry)
            return made, address, geometry

    def _note(self, stored: Stored, arguments: Any, address: int, made: Array, geometry: Any) -> None:
        session = sessions.session()
        assert session is not None
        make, highest = session.memory.allocator(made.nbytes), self.highest.get(stored, inf)
        if self._layouts is not None:
            self._layouts.note(arguments, address, make, made, geometry, highest)


def gate_words(
    session: Any, beneath: Any, serve: Any, roles: list[int], dtypes: tuple[Stored, ...], *, least: int, serve_least: int
) -> Array:
    """The words of a gate that has no loops yet: calls that may be served go to `serve`."""
    words = np.zeros(WORDS, np.int64)
    session.native.keep.append((beneath, serve))
    words[[BENEATH, SERVE, ARGUMENTS, GRAIN, LEAST, SERVE_LEAST]] = (
        id(beneath),
        id(serve),
        len(roles),
        GRAIN_ELEMENTS,
        least,
        serve_least,
    )
    words[ROLES : ROLES + len(roles)] = roles
    words[DTYPES : DTYPES + len(dtypes)] = [id(stored.dtype) for stored in dtypes]
    return words


def _alike(arrays: list[Array]) -> bool:
    """Whether all lie in one piece, in one shape."""
    return all(a.flags.c_contiguous and a.shape == arrays[0].shape for a in arrays)


def _takes(out: Any, arrays: list[Array], result: Stored) -> bool:
    """Whether an array takes their result element after element: none of them lies across it."""
    if type(out) is not np.ndarray or out.dtype != result.dtype or out.shape != arrays[0].shape or not out.flags.carray:
        return False
    return all(a is out or not np.may_share_memory(a, out) or a.ctypes.data == out.ctypes.data for a in arrays)


def not_served(*arguments: Any, out: Any = None) -> Any:
    """The kernel beneath one that asks another where it does not serve a call."""
    return NotImplemented
