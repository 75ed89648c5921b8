"""What a failed call is told: that no kernel serves it, or the shape rule's own words for what a kernel only stumbled over."""

from __future__ import annotations

import re
import sys
from typing import Any

from tenfold.dispatch import devices, kernels
from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import Operator, find
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES
from tenfold.types.narrow import RECORD, computed


def wrong_result(operator: Operator, key: Any, result: Any, error: TypeError) -> Exception:
    """The error for a kernel that returned no arrays of its device."""
    if result is NotImplemented:
        return no_kernel(operator, key)
    return TypeError(f"operator {operator.name} on device {str(key.device)!r}: {error}")


def no_kernel(operator: Operator, key: Any) -> Exception:
    """The error for a primitive that no kernel serves, which names the broken plugin if one should have."""
    device = str(key.device.type)
    asking = _composite_under_way(operator)
    missing = f"operator {operator.name} has no kernel for device {device!r}" + (
        f", and {asking} is made of it" if asking else ""
    )
    failure = SERVICES.plugin_failure(device, missing)
    if failure is not None:
        return failure
    conditions = [k.note or k.location for k in kernels.KERNELS.get((operator.name, device), ())]
    if conditions:
        return NotImplementedError(f"{missing} and these arguments; it has kernels only for: {', '.join(conditions)}")
    return NotImplementedError(
        f"{missing}; devices that have one: {', '.join(kernels.devices_with_kernel(operator)) or 'none'}. A package attaches one "
        f"with @kernel(op.{operator.name}, device={device!r}), in a module that its plugin names for the family "
        f"{operator.family!r}"
    )


def _composite_under_way(operator: Operator) -> str:
    """The composite whose body is being run, innermost, as the generated functions on the stack tell; or nothing."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals is RUNTIME:
            function = vars(RUNTIME["Tensor"]).get(frame.f_code.co_name)  # of a Python operator such as `@`
            found = find(frame.f_code.co_name) or getattr(function, "op", None)
            if found is not None and found.body is not None and found is not operator:
                return str(found.name)
    return ""


def recovered(operator: Operator, key: Any, function: Any, arrays: list[Any], given: list[Any], error: Exception) -> Any:
    """The result of a kernel that could not start (`quiet` in cpu/quiet.py says why), or got complex32; else raises its error."""
    again = getattr(function, "again", None)
    if again is not None and type(error) is RuntimeError:
        try:
            return again(*arrays)
        except Exception as own:  # noqa: BLE001 - as in `execute`
            error = own
    if type(key) is devices.device and any(getattr(a, "dtype", None) == RECORD for a in arrays):
        if operator.name in _IN_COMPLEX_HALF:
            try:
                return computed(function, arrays)
            except (ValueError, TypeError, IndexError) as own:
                raise explained(operator, key, given, own) from None
        error = NotImplementedError(f"\"{operator.name}\" not implemented for 'ComplexHalf'; convert it with .cfloat()")
    raise explained(operator, key, given, error) from None


# The operators that PyTorch computes with complex32 on a CPU, beside those that only move elements.
_IN_COMPLEX_HALF = frozenset(
    (
        "add sub rsub mul neg conj_physical abs eq ne any all isnan isinf isfinite sgn sign addcmul tril triu norm vector_norm"
    ).split()
)


# How NumPy says that a shape has too many elements, those of a view and of nothing counted, too.
_TOO_LARGE = ("array is too big", "Maximum allowed dimension exceeded")


def explained(operator: Operator, key: Any, given: list[Any], error: Exception) -> Exception:
    """The error to raise for a kernel's failure: the shape rule's own words where it refuses the arguments."""
    if isinstance(error, MemoryError):
        mine = isinstance(error, devices.OutOfMemoryError)
        return error if mine else RuntimeError(f"{operator.name}: can't allocate memory: {error}")
    if type(error) is ValueError and str(error).startswith(_TOO_LARGE):
        return RuntimeError(f"{operator.name}: Stride calculation overflowed: more elements than there are addresses")
    try:
        refused_by_rule(operator, given)
    except DataDependent:
        pass
    except (RuntimeError, TypeError, ValueError, IndexError) as better:
        return better if is_named(operator, str(better)) else type(better)(f"{operator.name}: {better}")
    plain = type(error) in (RuntimeError, TypeError, ValueError, IndexError) and len(error.args) == 1
    if plain and not is_named(operator, str(error)):
        error.args = (f"{operator.name}: {error}",)  # the same error, whose traceback stays
    return error


def is_named(operator: Operator, text: str) -> bool:
    """Whether an error's words name an operator: this one, or at their beginning the one that users call."""
    if text.startswith(("output with shape ", "Subtraction, the `-` operator")):  # PyTorch's words
        return True
    start = re.match(r"([\w.]+)(\(\))?: ", text)
    return operator.name in text.lower() or (start is not None and (find(start[1]) is not None or "." in start[1]))


def refused_by_rule(operator: Operator, given: list[Any]) -> None:
    """Run the shape rule, or a composite's body on meta tensors, for the error that it raises."""
    if operator.moves:
        return  # between devices, of which a stand-in without data knows nothing
    if operator.shape_rule is not None:
        operator.shape_rule(*[_as_meta(v) for v in given])
    elif operator.body is not None:
        values = {p.name: p.default for p in operator.params}
        values.update(zip((p.name for p in operator.kernel_params), map(as_meta_tensor, given)))
        with RUNTIME["no_grad"]():
            RUNTIME["in_pieces"](operator, values)


def as_meta_tensor(value: Any) -> Any:
    """Tensors (also in lists and tuples) as meta tensors of their shape, dtype and strides."""
    if hasattr(value, "_array"):
        return RUNTIME["wrap"](_as_meta(value), devices.located(devices.META))
    return type(value)(map(as_meta_tensor, value)) if type(value) in (list, tuple) else value


def _as_meta(value: Any) -> Any:
    if hasattr(value, "_array"):
        offset = 0 if value._key.device.type == "meta" else value._key.backend.memory(value._array)[2]
        return Meta(value._array.shape, value._array.dtype, value._array.strides, offset)
    if type(value) in (list, tuple):
        return type(value)([_as_meta(v) for v in value])
    return value
