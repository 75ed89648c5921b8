"""Operators of two arguments whose dtypes differ: what their calls become once the arguments agree.

The ordinary path reads a call's parameters, asks what they promote to and converts them; most of its time goes into the reading.
Here a call of two dtypes that was seen before is two native conversions and a native call. native/mixing.ll says which calls
come; those that are not served, and all errors, go the ordinary way. What is computed is the same: arguments are converted by
`to`, so that gradients pass, and a number that half precision does not hold is met in float32, whose result is rounded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.layout import note_layout
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME
from tenfold.llvm.writes import note_write
from tenfold.types import dtypes, promotion

NAMES = frozenset("add sub mul div maximum minimum eq ne lt le gt ge".split())
MOST_PLANS = 1000
SCALARS = (np.float64, np.float32, np.int64)  # of NumPy, which are taken for Python's numbers
KERNELS: dict[str, Any] = {}  # the compiled form of each operator, which the kernels' files bring
Plan = Callable[[Any, Any], Any]


class Mixer:
    """An operator's plan for each pair of dtypes."""

    def __init__(self, form: Operator, operator: Operator) -> None:
        self.operator, self.in_place = operator, form is not operator
        self.function: Any = form.fn
        self.plans: dict[Any, Plan] = {}

    def __call__(self, a: Any, b: Any) -> Any:
        x = a._array
        if hasattr(b, "_array"):
            y = b._array
            key = x.dtype, y.dtype, x.ndim == 0, y.ndim == 0, dtypes.get_default_dtype()
        else:
            key = x.dtype, type(b), x.ndim == 0, False, dtypes.get_default_dtype()
        plan = self.plans.get(key)
        if plan is None:
            if len(self.plans) >= MOST_PLANS:
                self.plans.clear()
            plan = self.plans[key] = self.plan(a, b)
        return plan(a, b)

    def plan(self, a: Any, b: Any) -> Plan:
        """What calls with arguments of these dtypes become."""
        if not hasattr(b, "_array") and self.operator.params[1].role != "number":
            return _refused
        if type(b) in SCALARS:
            function = self.function
            return lambda a, b: function(a, b.item())
        among = [t.dtype for t in (a, b) if hasattr(t, "_array")]
        if type(b) is bool:
            return self.beside_bool() if a.dtype is dtypes.bool_ else _refused
        if self.operator.name == "sub" and dtypes.bool_ in among:  # refused, in its words
            return _refused
        target = promotion.of_values((a, b))
        if self.operator.promote == "float" and target.category < 2:
            target = dtypes.get_default_dtype()
        if target.category > 2:
            return _refused
        if self.in_place and target is not a.dtype:
            return self.written_beside_wider(target) if len(among) == 2 and promotion.can_cast(target, a.dtype) else _refused
        if target.is_half and any(not t.dim() and t.dtype is not target for t in (a, b) if hasattr(t, "_array")):
            return _refused  # the operator's own path meets it as it is, as PyTorch does, not rounded
        if target.is_half and len(among) == 1:
            return self.beside_half(a.dtype) if target is a.dtype else _refused
        return self.agreed(target, a.dtype is not target, len(among) == 2 and b.dtype is not target)

    def agreed(self, target: Any, first: bool, second: bool) -> Plan:
        """The call once the arguments are of one dtype."""
        function = self.function
        if first and second:
            return lambda a, b: function(a.to(target), b.to(target))
        return (lambda a, b: function(a.to(target), b)) if first else lambda a, b: function(a, b.to(target))

    def beside_bool(self) -> Plan:
        """Bools beside one that is a number of Python."""
        function, one_of = self.function, [RUNTIME["wrap"](np.asarray(value), CPU) for value in (False, True)]
        return lambda a, b: function(a, one_of[b])

    def beside_half(self, half: Any) -> Plan:
        """Half precision beside a number, which it need not hold: then it meets it in float32, or the number is rounded first."""
        operator, function, kernel = self.operator, self.function, KERNELS[self.operator.name]
        rounds = operator.exact_numbers == ()
        if not rounds and operator.exact_numbers != ("other",):
            return _refused
        if self.in_place and not rounds:
            return _refused if kernel.bool_result else self.written_beside_half(half)
        wrap, back, gate = RUNTIME["wrap"], not kernel.bool_result, kernel.wrap(_not_served)

        def beside(a: Any, b: Any) -> Any:
            x, recorded = a._array, a._node is not None
            if rounds or recorded:
                rounded = _rounded(struct.pack("d", b), half)
                if recorded and (rounds or float(rounded._array) == b):  # nothing wide is to be kept for the gradient
                    return function(a, rounded)
            if rounds:
                if self.in_place:
                    return a if _written(gate, a, float(rounded._array)) else function(a, rounded)
                b = float(rounded._array)
            if not recorded:
                made = gate(x, b)
                if made is not NotImplemented:
                    result = wrap(made, a._key)
                    note_layout(result)
                    return result
            made = function(a.float(), b)
            return made.to(half) if back else made

        return beside

    def written_beside_half(self, half: Any) -> Plan:
        """The same, written into the half, where no gradients are recorded and nothing stands against writing."""
        function, gate = self.operator.fn, KERNELS[self.operator.name].wrap(_not_served)

        def beside(a: Any, b: Any) -> Any:
            if not _is_free(a):
                return NotImplemented
            return a if _written(gate, a, b) else a.copy_(function(a.float(), b).to(half))

        return beside

    def written_beside_wider(self, target: Any) -> Plan:
        """A tensor whose dtype wins, but which is written into that of the first, as a mask of float32 into half precision."""
        function, kernel = self.operator.fn, KERNELS[self.operator.name]
        if kernel.bool_result:
            return _refused

        def beside(a: Any, b: Any) -> Any:
            if not _is_free(a) or b._node is not None or (b._storage is not None and b._storage is a._storage):
                return NotImplemented
            made = function(a.to(target), b.to(target))
            return a.copy_(made) if made._array.shape == a._array.shape else NotImplemented

        return beside


def _written(gate: Any, tensor: Any, number: Any) -> bool:
    """Whether a compiled kernel has written what it makes of a tensor beside a number into that tensor."""
    x = tensor._array
    if not _is_free(tensor) or not x.flags.carray or gate(x, number, out=x) is not x:
        return False
    note_write(tensor)
    return True


def _is_free(tensor: Any) -> bool:
    """Whether a tensor may be written without a look at gradients and at its memory."""
    base, storage = tensor._base, tensor._storage
    return not (
        tensor._node is not None or (base is not None and base._node is not None) or (storage is not None and storage.guarded)
    )


def _not_served(a: Any, b: Any, out: Any = None) -> Any:
    return NotImplemented


def _refused(a: Any, b: Any) -> Any:
    return NotImplemented


@lru_cache(maxsize=256)
def _rounded(number: bytes, half: Any) -> Any:
    """A number as a tensor of no dimensions; by its bits, for 0.0 is not -0.0."""
    with np.errstate(all="ignore"):
        return RUNTIME["wrap"](np.asarray(struct.unpack("d", number)[0]).astype(half.numpy), CPU)
