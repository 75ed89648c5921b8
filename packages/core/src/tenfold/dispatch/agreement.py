"""What arguments agree on before a kernel sees them: accepted dtypes, one device, one common dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.failures import is_named, refused_by_rule
from tenfold.dispatch.operators import Operator, Param
from tenfold.dispatch.runtime import RUNTIME
from tenfold.types import dtypes, promotion
from tenfold.types.dtypes import c_name, type_name
from tenfold.types.narrow import narrowed
from tenfold.types.numbers import HALVES, require_fit

# Where NumPy takes a Python number as PyTorch does: it wraps none into a small integer's range, and knows none among ml_dtypes'.
_NUMPY_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int64, dtypes.complex64, dtypes.complex128)


def check_dtypes(operator: Operator, values: dict[str, Any]) -> None:
    """Refuse tensors of a dtype that the declaration does not accept; a dimension that is not there is said first."""
    for name, accepted in operator.accepts.items():
        value = values[name]
        for t in value if type(value) in (list, tuple) else (value,):
            if hasattr(t, "_array"):
                demand = next((d for d in accepted.demands if d.refuses(t.dtype)), None)
                if demand and not demand.comes_first:
                    _refuse_dimensions(operator, values, _OF_DIMENSIONS if demand.error is RuntimeError else ("",))
                accepted.check(operator.name, t.dtype)


_OF_DIMENSIONS = ("Dimension out of range", "non-zero size")


def _refuse_dimensions(operator: Operator, values: dict[str, Any], words: tuple[str, ...]) -> None:
    """Raise the shape rule's IndexError if it has one that says one of these things."""
    if operator.shape_rule is None:
        return
    try:
        refused_by_rule(operator, [values[p.name] for p in operator.kernel_params])
    except IndexError as error:
        if not any(word in str(error) for word in words):
            return
        raise error if is_named(operator, str(error)) else IndexError(f"{operator.name}: {error}") from None
    except Exception:  # noqa: BLE001 - the dtype is what is wrong
        pass


def common_device(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    """The one device of all tensors; CPU tensors that are 0-d or indices follow the others, as in PyTorch."""
    if not tensors:
        return devices.located(values.get("device"))
    found = None
    for t in tensors:
        key = t._key.device
        if found is None or (found is devices.CPU and all(i._key.device is not found or not i._array.shape for i in tensors)):
            found = key
        elif key is not found and not (
            key is devices.CPU and (not t._array.shape or ("indices" in values and t is not values.get("values")))
        ):
            raise RuntimeError(
                f"{operator.name}: Expected all tensors to be on the same device, but found at least two devices, "
                f"{found} and {key}! Move one with .to()"
            )
    for p in operator.kernel_params:
        value = values[p.name]
        if p.role != "ints" and hasattr(value, "_array") and value._key.device is not found:  # not `to`'s other
            values[p.name] = value.to(found)
        elif p.role == "list" and value:
            values[p.name] = [t if t is None or t._key.device is found else t.to(found) for t in value]
    return found


def _group(operator: Operator, values: dict[str, Any]) -> list[tuple[Param, Any]]:
    """The promoted parameters with their values; list parameters give one entry for each tensor."""
    group = []
    for p in operator.kernel_params:
        if p.role in ("value", "ints", "args") or (operator.promoted is not None and p.name not in operator.promoted):
            continue
        value = values[p.name]
        if p.role == "list":
            group += [(p, item) for item in value if item is not None]
        elif value is not None:
            group.append((p, value))
    return group


def promote(operator: Operator, values: dict[str, Any], key: Any) -> dtypes.dtype | None:
    """Cast the promoted parameters to their common dtype, through `to`, so that gradients pass.

    Half precision beside a number that it cannot hold is computed in float32; then the dtype to round to is returned.
    """
    group = _group(operator, values)
    if not group:  # an empty list of tensors: the shape rule refuses it
        return None
    if operator.promote == "same":
        _require_same_dtype(operator, [v for _, v in group])
        return None
    target = promotion.of_values(v for _, v in group)
    if operator.promote == "float" and target.category < 2:
        target = dtypes.get_default_dtype()
    narrow, exact, numbers = None, operator.exact_numbers, HALVES[target.numpy] if target.is_half else None
    takes_numbers = exact is True or (key.backend.takes_numbers and target.category > 0 and target is not dtypes.complex32)
    if exact and numbers is not None and not (takes_numbers or all(_fits(values[n], numbers) for n in exact)):
        narrow, target = target, dtypes.float32
    for name in {p.name for p, _ in group if p.role == "list"}:
        values[name] = [v if v is None else cast(v, target) for v in values[name]]
    for p, value in group:
        if p.role == "list":
            continue
        if hasattr(value, "_array"):
            values[p.name] = cast(value, target)
        elif target not in _NUMPY_NUMBERS:
            if operator.numbers_fit:
                require_fit(value, target)
            array = _converted(value, target)
            if takes_numbers:
                values[p.name] = value if target.is_half else array.item()
                continue
            values[p.name] = RUNTIME["wrap"](key.backend.from_numpy(array, key.index), key)
    return narrow


def _fits(value: Any, numbers: Any) -> bool:
    """Whether a half precision dtype holds a number, or the one of a 0-d tensor, without rounding."""
    if not hasattr(value, "_array"):
        return numbers[value] is not None
    return bool(value._array.shape or value._array.dtype == numbers.dtype)


def beside_half(number: Any, dtype: Any, key: Any) -> Any:
    """A number beside an array of half precision, and what a kernel takes for it; None if that rounds, or for other dtypes."""
    numbers = HALVES.get(dtype)
    if numbers is None:
        return None
    if key.backend.takes_numbers:
        return number, number
    array = numbers[number]
    return array if array is None else (RUNTIME["wrap"](array, key), array)


RUNTIME.update(HALVES=HALVES, beside_half=beside_half)


def _converted(number: Any, target: dtypes.dtype) -> Any:
    if target is dtypes.complex32:
        return narrowed(number)
    if type(number) is int and target.is_half:
        number = float(number)  # ml_dtypes takes no integer beyond int64
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(target.numpy)


def cast(tensor: Any, target: dtypes.dtype) -> Any:
    return tensor if tensor._array.dtype == target.numpy else tensor.to(target)


# What is said of dtypes that differ: {0} is PyTorch's name of the first, {o} of another, c has those of C++.
_MM = "expected m1 and m2 to have the same dtype, but got: {c[0]} != {c[1]}"
_DOT = "dot : expected both vectors to have same dtype, but found {0} and {1}"
_BMM = "expected scalar type {0} but found {o}; give all the same dtype, by .to()"
_WORDS = {
    "mm": _MM, "matmul": _MM, "dot": _DOT, "vdot": _DOT, "bmm": _BMM, "convolution": _BMM,
    "baddbmm": "Input dtypes must be the same, got: input {c[0]}, batch1: {c[1]}, batch2: {c[2]}",
    "addmm": "self and mat2 must have the same dtype, but got {0} and {o}",
    "complex": "Expected object of scalar type {0} but got scalar type {1} for second argument",
    "heaviside": "heaviside is not yet implemented for {kind}.",
}  # fmt: skip


def _require_same_dtype(operator: Operator, tensors: list[Any]) -> None:
    types = [t.dtype for t in tensors]
    other = next((t for t in types if t is not types[0]), None)
    if other is None:
        return
    words = _WORDS.get(operator.name, f"expected all tensors to have the same dtype, but got: {types[0].name} and {other.name}")
    kind = "complex tensors" if any(t.is_complex for t in types) else "tensors with different dtypes"
    said = words.format(*map(type_name, types), o=type_name(other), c=[*map(c_name, types)], kind=kind)
    raise RuntimeError(f"{operator.name}: {said}")
