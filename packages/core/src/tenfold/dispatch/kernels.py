"""Kernels: the functions on a device's arrays that carry operators out.

`@kernel(op.mm, device="cpu")` attaches one. With `when=condition` it serves only the calls whose arrays satisfy the
condition (an acceleration); the others go to the unconditional kernel, or to the operator's body. With `wrap=True` it
is made around the kernel that would serve without it, so that it chooses by itself: with no call more for the others.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.dispatch.operators import OPERATORS, Operator, as_operator, find
from tenfold.dispatch.registration import current_owner, loading, on_failure
from tenfold.dispatch.services import SERVICES


class Kernel(NamedTuple):
    """One attached kernel and who attached it."""

    function: Any
    when: Any
    into: bool  # whether it can write into a given array: function(..., out=array)
    owner: str
    note: str
    attached: str  # file:line where it was attached
    over: tuple[Operator, ...] = ()  # the operators whose work it does itself, so that their kernels are not called
    wrap: bool = False  # `function` makes the kernel from the one beneath it
    loaded: bool = False  # attached by an installed package

    @property
    def location(self) -> str:
        function = inspect.unwrap(self.function)
        code = getattr(function, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else f"{self.attached} ({function!r})"

    @property
    def accelerates(self) -> bool:
        """Whether it stands before another kernel or the body, which serves the other calls."""
        return self.wrap or self.when is not None


_BUILT_IN = (np.ufunc, types.BuiltinFunctionType)
ANY_DEVICE = "*"
KERNELS: dict[tuple[str, str], list[Kernel]] = {}
_ABOVE: dict[str, set[str]] = {}  # an operator: those with kernels that do its work themselves
TABLES: dict[str, Any] = {}  # each device type's kernels as attributes: a KernelTable; for "meta" the shape rules


def check_parameters(what: str, function: Any, operator: Operator, extra: tuple[str, ...] = ()) -> None:
    """Refuse a function whose parameters are not the operator's; built-in functions and *args cannot be checked."""
    if not hasattr(function, "__code__"):
        return
    if isinstance(getattr(function, "__wrapped__", None), _BUILT_IN):
        return
    params = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in params):
        return
    got = [p.name for p in params if p.name not in extra]
    accepted = [p.name for p in operator.kernel_params]
    if got != accepted:
        raise TypeError(
            f"{what} for operator {operator.name}: its parameters are ({', '.join(got)}), "
            f"expected ({', '.join(accepted)}) as in {operator.name}{operator.signature}"
        )


def kernel(
    target: Any,
    *,
    device: str,
    when: Any = None,
    into: bool | None = None,
    note: str = "",
    over: tuple[Any, ...] = (),
    wrap: bool = False,
) -> Callable[[Any], Any]:
    """Attach a function on arrays to an operator for a device type.

    The function takes the operator's parameters by position, tensors as arrays of the device, and returns arrays; it
    never writes its inputs. `into=True` says that it also takes `out=` (NumPy's ufuncs do). `when` gets the same
    arguments and says whether this kernel serves the call; `note` explains it to readers of the operator's card.
    With `device="*"` the function gets the backend as its first argument and serves devices without a kernel of their
    own. `over` names the operators whose work an accelerated composite does itself: when another package attaches a
    kernel with a condition to one of them, the acceleration steps aside, and the composite's body calls that kernel.

    With `wrap=True` the function gets the kernel beneath, what was attached before, and returns the one to call in its
    place, which hands on what it does not serve; beneath a composite without a kernel it is one that returns
    NotImplemented, for the body. With `into=True` it is also asked to wrap the kernel that writes, called with `out=`.
    """
    operator = as_operator(target)
    if wrap and (when is not None or device == ANY_DEVICE):
        raise TypeError(f"kernel for operator {operator.name}: wrap=True takes no when=, and a device, not {device!r}")
    beneath = tuple(map(as_operator, over))

    def register(function: Any) -> Any:
        can_write = isinstance(getattr(function, "__wrapped__", function), np.ufunc) if into is None else into
        if not wrap:
            extra = ("backend",) if device == ANY_DEVICE else ("out",) if can_write else ()
            check_parameters("kernel", function, operator, extra)
        if when is not None:
            check_parameters("kernel condition", when, operator)
        owner = current_owner(function)
        entries = KERNELS.setdefault((operator.name, device), [])
        if when is None and not wrap:
            for entry in entries:
                if not entry.accelerates:
                    raise RuntimeError(
                        f"operator {operator.name} has two kernels for device {device!r}: from {entry.owner} "
                        f"({entry.location}) and from {owner}; uninstall one, or attach the faster one with when= or wrap="
                    )
        caller = sys._getframe(1)
        entry = Kernel(
            function, when, can_write, owner, note, f"{caller.f_code.co_filename}:{caller.f_lineno}", beneath, wrap, loading()
        )
        # A program's own come last, though packages may be loaded later.
        own = len(entries) if not entry.loaded else next((i for i, e in enumerate(entries) if not e.loaded), len(entries))
        entries.insert(own, entry)
        for primitive in beneath:
            _ABOVE.setdefault(primitive.name, set()).add(operator.name)
        on_failure(partial(_detach, operator, device, entry))
        _forget(operator, device)
        return function

    return register


def _detach(operator: Operator, device: str, entry: Kernel) -> None:
    entries = KERNELS.get((operator.name, device), [])
    if entry in entries:
        entries.remove(entry)
    _forget(operator, device)


def drop(device: str) -> None:
    """Detach every kernel of a device type."""
    for name, attached_to in list(KERNELS):
        if attached_to == device:
            del KERNELS[name, device]
    TABLES.pop(device, None)
    for operator in OPERATORS.values():
        known = operator.calls.kernels
        for key in [key for key in known if key.type == device]:
            del known[key]


def _forget(operator: Operator, device: str) -> None:
    table = TABLES.get(device)
    if table is not None:
        table.__dict__.pop(operator.name, None)
        table.__dict__.pop(operator.name + "__into", None)
    for form in operator.forms:
        form.calls.kernels.clear()
    for name in _ABOVE.get(operator.name, ()):
        above = find(name)
        if above is not None:
            _forget(above, device)


class KernelTable:
    """A device type's kernels as attributes, filled when an operator is first used on it; None: no kernel."""

    def __init__(self, device: str) -> None:
        self.device_type = device

    def __getattr__(self, name: str) -> Any:
        operator = find(name.removesuffix("__into"))
        if operator is None:
            return None
        SERVICES.load_kernels(self.device_type, operator.family)
        entries = [k for k in KERNELS.get((operator.name, self.device_type), []) if not self._overtaken(k)]
        if name.endswith("__into"):
            function = _writing(entries)
        else:
            base = next((k.function for k in entries if not k.accelerates), None)
            function = _accelerated(entries, base or _generic(operator, self.device_type))
        setattr(self, name, function)
        return function

    def _overtaken(self, entry: Kernel) -> bool:
        """Whether somebody else accelerates an operator whose work this kernel would do without asking."""
        for primitive in entry.over:
            SERVICES.load_kernels(self.device_type, primitive.family)
            known = KERNELS.get((primitive.name, self.device_type), ())
            if any(k.accelerates and k.owner != entry.owner for k in known):
                return True
        return False


def _writing(entries: list[Kernel]) -> Any:
    """The kernel to use with `out=`: the unconditional one, if it can, in what wraps it."""
    base = next((k.function for k in entries if not k.accelerates and k.into), None)
    return base if base is None else _accelerated([k for k in entries if k.into and k.wrap], base)


def _accelerated(entries: list[Kernel], kernel: Any) -> Any:
    """The kernel in those that wrap it and behind those with conditions, the last attached outermost."""
    for entry in entries:
        if entry.wrap:
            kernel = entry.function(_to_the_body if kernel is None else kernel)
        elif entry.when is not None:
            kernel = _choice(entry, _to_the_body if kernel is None else kernel)
    return kernel


def _to_the_body(*arguments: Any) -> Any:
    return NotImplemented


def _choice(entry: Kernel, other: Any) -> Any:
    def choose(*arguments: Any) -> Any:
        return entry.function(*arguments) if entry.when(*arguments) else other(*arguments)

    return choose


def _generic(operator: Operator, device: str) -> Any:
    """The kernel that works through any backend's own methods, given the backend as its first argument."""
    SERVICES.load_kernels(ANY_DEVICE, operator.family)
    entries = KERNELS.get((operator.name, ANY_DEVICE), [])
    return partial(entries[0].function, SERVICES.backend_of(device)) if entries else None


def table(device: str) -> Any:
    """The kernel table of a device type."""
    found = TABLES.get(device)
    if found is None:
        found = TABLES[device] = KernelTable(device)
    return found


def devices_with_kernel(operator: Operator) -> list[str]:
    """The device types that have a kernel for the operator."""
    return [name for name in SERVICES.device_types() if name != "meta" and getattr(table(name), operator.name) is not None]
