"""The full dispatch of an operator: layers, overriding classes, transforms, promotion, devices, `out=`, in-place.

The generated call paths (callpath.py) shortcut the plain case of what is written here; both mean the same.
The order, outermost first: layers that the thread has entered; argument classes with `__torch_function__`; transforms
(vmap, jvp), whose tensors carry a level; the gradient tape; the device's kernel, or the operator's body.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from tenfold.dispatch import beneath, devices, kernels
from tenfold.dispatch.differing import differing
from tenfold.dispatch.inplace import run_inplace
from tenfold.dispatch.layout import lay_out
from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import Operator, Param, find
from tenfold.dispatch.outputs import any_node, with_out
from tenfold.dispatch.overrides import call_overrides
from tenfold.dispatch.runtime import RUNTIME, STATE, through_layers
from tenfold.dispatch.services import SERVICES
from tenfold.types import dtypes, promotion
from tenfold.types.narrow import RECORD, computed, narrowed
from tenfold.types.numbers import require_fit

NUMBERS = (int, float, complex)
_OPERANDS = (*NUMBERS, np.generic)
# Where NumPy takes a Python number as PyTorch does. It refuses numbers out of a small integer's range, which PyTorch
# wraps around, and does not know the number's place among ml_dtypes' types.
_NUMPY_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int64, dtypes.complex64, dtypes.complex128)


def dispatch(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901 - the whole of the path, case by case
    """Carry a call out in full generality."""
    if STATE.layers:
        return through_layers(operator, *as_called(operator, args, kwargs))
    first = getattr(args[0], "_key", None) if args else None
    if first is not None and first.level is not None:
        result = first.transform.quick(operator, args, kwargs)
        if result is not NotImplemented:
            return result
    values = operator.bind(args, kwargs)
    if operator.overload_body is not None:
        result = operator.overload_body(**values)
        if result is not NotImplemented:
            target = None if operator.inplace_of is None else values[operator.params[0].name]
            return result if target is None or result is target else target.copy_(result)
    tensors = _check_arguments(operator, values)
    if _overriding(tensors):
        return call_overrides(operator, tensors, *as_called(operator, args, kwargs))
    tensors = [t for t in tensors if hasattr(t, "_array")]
    out = values.pop("out", None)
    if out is not None:
        return with_out(operator, values, out)
    if beneath.is_asked(tensors):
        result = SERVICES.ask_beneath(operator, values, tensors)
        if result is not NotImplemented:
            return result
    if operator.inplace_of is not None:
        key = values[operator.params[0].name]._key
        if key.level is None and not key.override:
            kernel_for(operator, key)  # for the next call
        return run_inplace(operator, values)
    for name, neutral in operator.neutral.items():
        value = values[name]
        if value is not neutral if operator.takes_only(name, neutral) else value != neutral:
            return _inside_layers(operator.lower_body, (), values)
    if operator.random and STATE.transforms:
        # The innermost transform decides, also where no argument is of its level.
        for transform in reversed(STATE.transforms):
            if transform.handles(operator):
                return transform.process(operator, values)
    if any(t._key.level is not None for t in tensors):
        return _through_transforms(operator, values, tensors)
    return _plain(operator, values, tensors)


def dispatch_dunder(operator: Operator, input: Any, other: Any) -> Any:
    """A Python operator's call in full generality; NotImplemented lets Python ask the other operand."""
    if hasattr(other, "_array") or isinstance(other, _OPERANDS) or hasattr(type(other), "__torch_function__"):
        return dispatch(operator, (input, other), {})
    if isinstance(other, np.ndarray) and operator.inplace_of is None:
        return _with_ndarray(operator, input, other)
    return NotImplemented


def _with_ndarray(operator: Operator, input: Any, other: Any) -> Any:
    """An operation with a NumPy array has NumPy's result type, in which a 0-d array counts as any other."""
    common = dtypes.from_numpy(np.result_type(input._array.dtype, other.dtype))
    other = RUNTIME["wrap"](np.asarray(other, common.numpy), devices.located(devices.CPU))
    return dispatch(operator, (_cast(input, common), other), {})


def dispatch_reflected(operator: Operator, input: Any, other: Any) -> Any:
    """The call of a reflected Python operator: as in PyTorch an array in front of a tensor is not taken for one."""
    return NotImplemented if isinstance(other, np.ndarray) else dispatch_dunder(operator, input, other)


def as_called(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without those that are at their defaults, which the caller most likely did not write."""
    defaults = {p.name: p.default for p in operator.params}
    defaults["out"] = None
    kwargs = {k: v for k, v in kwargs.items() if k not in defaults or not _is_default(v, defaults[k])}
    names = [p.name for p in operator.params if not p.keyword_only]
    keep = len(args)
    while keep and keep <= len(names) and _is_default(args[keep - 1], defaults[names[keep - 1]]):
        keep -= 1
    return args[:keep], kwargs


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and type(value) in (int, float, str, tuple) and value == default)


def _check_arguments(operator: Operator, values: dict[str, Any]) -> list[Any]:  # noqa: C901 - the whole of the path, case by case
    """All tensors among the arguments (and objects that override); refuses what a tensor parameter cannot take."""
    tensors = []
    for position, p in enumerate(operator.params):
        value = values[p.name]
        if isinstance(value, np.generic) and p.role in ("value", "number") and not p.is_data:
            # NumPy's numbers are Python's, also those that are no subclass of them.
            values[p.name] = value.item()
        if p.role in ("value", "ints", "args"):
            continue
        if hasattr(value, "_array") and p.role != "list":
            tensors.append(value)
        elif value is None and p.role in ("optional", "list"):
            continue
        elif p.role == "list" and isinstance(value, (list, tuple)):
            for item in value:
                if hasattr(item, "_array") or hasattr(type(item), "__torch_function__"):
                    tensors.append(item)
                elif item is not None or not p.holes:
                    raise TypeError(
                        f"{operator.name}(): expected Tensor as element {len(tensors)} in argument {position}, "
                        f"but got {type(item).__name__}"
                    )
        elif p.role == "number" and isinstance(value, (*NUMBERS, np.generic)):
            continue
        elif hasattr(type(value), "__torch_function__") and not (p.role == "list" and hasattr(value, "_array")):
            tensors.append(value)
        else:
            expected = {"list": "tuple of Tensors", "number": "Tensor or number"}.get(p.role, "Tensor")
            raise TypeError(
                f"{operator.name}(): argument '{p.name}' (position {position + 1}) must be {expected}, not {type(value).__name__}"
            )
    if not tensors and any(p.role == "number" for p in operator.params):
        kinds = ", ".join(type(values[p.name]).__name__ for p in operator.params if p.role == "number")
        raise TypeError(
            f"{operator.name}() received an invalid combination of arguments - got ({kinds}); one of them has to be a Tensor"
        )
    out = values.get("out")
    if out is not None:
        tensors += list(out) if isinstance(out, (tuple, list)) else [out]
    return tensors


def _overriding(tensors: list[Any]) -> bool:
    for t in tensors:
        key = getattr(t, "_key", None)
        if key is None or (key.override and not STATE.overrides_off):
            return True
    return False


def _through_transforms(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    """Hand the call to the transform of the highest level among the arguments."""
    transform = max((t._key for t in tensors if t._key.level is not None), key=lambda key: key.level).transform
    # A tape on the wrappers of this level is younger than the level: it sees the call from outside.
    recording = STATE.grad_enabled and operator.nondifferentiable is None
    recording = recording and any(transform.follows(t) for t in tensors)
    if operator.promote is None:
        check_dtypes(operator, values)
    if operator.body is not None and (not transform.handles(operator) or (recording and not has_gradient(operator))):
        return run_body(operator, values)
    narrow = None
    if operator.promote is not None:
        # Here, where 0-d tensors still are 0-d: a lower level sees them with the batch dimension.
        narrow = _promote(operator, values, _common_device(operator, values, tensors))
        check_dtypes(operator, values)
    result = transform.process(operator, values)
    if recording:
        attach(operator, result, {name: transform.lifted(value) for name, value in values.items()})
    return result if narrow is None else result.to(narrow)


def _plain(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    if operator.mixed and any(t._key is not tensors[0]._key for t in tensors):
        return run_body(operator, values)
    key = _common_device(operator, values, tensors)
    narrow = None if operator.promote is None else _promote(operator, values, key)
    check_dtypes(operator, values)
    result = execute(operator, key, values)
    return result if narrow is None else result.to(narrow)


def check_dtypes(operator: Operator, values: dict[str, Any]) -> None:
    """Refuse tensors of a dtype that the declaration does not accept; a dimension that is not there is said first."""
    for name, accepted in operator.accepts.items():
        value = values[name]
        for t in value if type(value) in (list, tuple) else (value,):
            if hasattr(t, "_array") and any(demand.refuses(t.dtype) for demand in accepted.demands):
                demand = next(d for d in accepted.demands if d.refuses(t.dtype))
                if not demand.comes_first:
                    _refuse_dimensions(operator, values, _OF_DIMENSIONS if demand.error is RuntimeError else ("",))
                accepted.check(operator.name, t.dtype)


_OF_DIMENSIONS = ("Dimension out of range", "non-zero size")


def _refuse_dimensions(operator: Operator, values: dict[str, Any], words: tuple[str, ...]) -> None:
    """Raise the shape rule's IndexError if it has one that says one of these things."""
    if operator.shape_rule is None:
        return
    try:
        _refused_by_rule(operator, [values[p.name] for p in operator.kernel_params])
    except IndexError as error:
        if not any(word in str(error) for word in words):
            return
        raise error if _is_named(operator, str(error)) else IndexError(f"{operator.name}: {error}") from None
    except Exception:  # noqa: BLE001 - the dtype is what is wrong
        pass


def _common_device(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    """The one device of all tensors; 0-d CPU tensors follow the others, as in PyTorch."""
    if not tensors:
        return devices.located(values.get("device"))
    found = None
    for t in tensors:
        key = t._key.device
        if found is None or (found is not key and found is devices.CPU and _scalars_only(tensors, key)):
            found = key
        elif key is not found and not (key is devices.CPU and not t._array.shape):
            raise RuntimeError(
                f"{operator.name}: Expected all tensors to be on the same device, but found at least two devices, "
                f"{found} and {key}! Move one with .to()"
            )
    for p in operator.kernel_params:
        value = values[p.name]
        if hasattr(value, "_array") and value._key.device is not found:
            values[p.name] = value.to(found)
    return found


def _scalars_only(tensors: list[Any], key: Any) -> bool:
    return all(t._key.device is not devices.CPU or not t._array.shape for t in tensors)


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


def _promote(operator: Operator, values: dict[str, Any], key: Any) -> dtypes.dtype | None:
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
    narrow = None
    takes_numbers = key.backend.takes_numbers and target.category > 0 and target is not dtypes.complex32
    if (
        operator.exact_numbers
        and target.is_half
        and not takes_numbers
        and not all(_fits(values[n], target) for n in operator.exact_numbers)
    ):
        narrow, target = target, dtypes.float32
    for name in {p.name for p, _ in group if p.role == "list"}:
        values[name] = [v if v is None else _cast(v, target) for v in values[name]]
    for p, value in group:
        if p.role == "list":
            continue
        if hasattr(value, "_array"):
            values[p.name] = _cast(value, target)
        elif target not in _NUMPY_NUMBERS:
            if operator.numbers_fit:
                require_fit(value, target)
            array = _converted(value, target)
            if takes_numbers:
                values[p.name] = value if target.is_half else array.item()
                continue
            values[p.name] = RUNTIME["wrap"](key.backend.from_numpy(array, key.index), key)
    return narrow


def _fits(value: Any, target: dtypes.dtype) -> bool:
    """Whether a half precision dtype holds a number, or the one of a 0-d tensor, without rounding."""
    if not hasattr(value, "_array"):
        return bool(float(_converted(value, target)) == value)
    return bool(value._array.shape or value._array.dtype == target.numpy)


def _converted(number: Any, target: dtypes.dtype) -> Any:
    if target is dtypes.complex32:
        return narrowed(number)
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(target.numpy)


def _cast(tensor: Any, target: dtypes.dtype) -> Any:
    return tensor if tensor._array.dtype == target.numpy else tensor.to(target)


def _require_same_dtype(operator: Operator, tensors: list[Any]) -> None:
    types = [t.dtype for t in tensors]
    if any(t is not types[0] for t in types):
        raise RuntimeError(differing(operator.name, types))


def execute(operator: Operator, key: Any, values: dict[str, Any]) -> Any:
    """Run the device's kernel, or the body, on arguments that agree in device and dtype."""
    params = operator.kernel_params
    given = [values[p.name] for p in params]
    function = kernel_for(operator, key)
    recording = operator.nondifferentiable is None and STATE.grad_enabled and any_node(given)
    if function is None or (recording and operator.body is not None and not has_gradient(operator)):
        return run_body(operator, values, key)
    arrays = [_array(v) for v in given]
    try:
        result = function(*arrays)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is told in the operator's words
        result = recovered(operator, key, function, arrays, given, error)
    if result is NotImplemented:
        return run_body(operator, values, key)
    if operator.moves:
        result, key = result
    wrapped = _wrapped(operator, key, result, given)
    if recording:
        attach(operator, wrapped, values)
    return wrapped


def _wrapped(operator: Operator, key: Any, result: Any, given: list[Any]) -> Any:
    """The kernel's arrays as tensors."""
    try:
        if operator.outputs != 1:
            return RUNTIME["wrap_views"](result, key, given[0]) if operator.view else RUNTIME["wrap_all"](result, key)
        wrapped = RUNTIME["wrap"](result, key)
    except TypeError as error:
        raise wrong_result(operator, key, result, error) from None
    lay_out(operator, wrapped, [getattr(v, "_array", None) for v in given])
    if operator.view:
        RUNTIME["share"](wrapped, given[0], operator.ends_graph != "always")
        if operator.view == "repeating":
            wrapped._storage.guarded = True
    return wrapped


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


def kernel_for(operator: Operator, key: Any) -> Any:
    """The kernel of an operator on a device, remembered where the call paths look; None: the operator's body.

    That of an in-place form is the operator's own if it can write into a given array.
    """
    table = operator.calls.kernels
    if key not in table:
        base = operator.inplace_of
        function = getattr(key.kernels, operator.name if base is None else base.name + "__into")
        direct = getattr(function, "direct", None)
        function = direct if direct is not None and direct.of is function else function
        if function is not None or (operator.body is not None and key.kernels is not devices.NO_KERNELS):
            table[key] = function
        return function
    return table[key]


def run_body(operator: Operator, values: dict[str, Any], key: Any = None) -> Any:
    """Run a composite's body; a primitive without a kernel on this device is an error."""
    if operator.body is None:
        raise no_kernel(operator, key)
    positional: list[Any] = []
    for p in operator.params:
        if p.role == "args":
            positional += values[p.name]
        elif not p.keyword_only:
            positional.append(values[p.name])
    return _inside_layers(operator.body, positional, {p.name: values.get(p.name) for p in operator.params if p.keyword_only})


def in_pieces(operator: Operator, values: dict[str, Any]) -> Any:
    """Run what an operator is made of: the lower body where some argument is not at its neutral value, else the body."""
    for name, neutral in operator.neutral.items():
        if values[name] is not neutral and values[name] != neutral:
            return _inside_layers(operator.lower_body, (), values)
    return run_body(operator, values) if operator.body is not None else NotImplemented


def _inside_layers(body: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a body with those layers on again that asked for it by `call_inside`."""
    layers, reentering = STATE.layers, STATE.reentering
    if not reentering:
        return body(*args, **kwargs)
    STATE.layers, STATE.reentering = reentering, ()
    try:
        return body(*args, **kwargs)
    finally:
        STATE.layers, STATE.reentering = layers, reentering


def has_gradient(operator: Operator) -> bool:
    """Whether a gradient rule is attached; asked of the autograd package once for each operator."""
    calls = operator.calls
    if calls.differentiable is None:
        calls.differentiable = bool(SERVICES.autograd().has_gradient(operator))
    return calls.differentiable


def attach(operator: Operator, result: Any, values: dict[str, Any]) -> None:
    """Give the result its gradient node."""
    operator.calls.attach(result, *[values[p.name] for p in operator.kernel_params])


def _array(value: Any) -> Any:
    if hasattr(value, "_array"):
        return value._array
    if type(value) in (list, tuple) and any(hasattr(v, "_array") for v in value):
        return [_array(v) for v in value]
    return value


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
        return RuntimeError(f"{operator.name}: can't allocate memory: {error}")
    if type(error) is ValueError and str(error).startswith(_TOO_LARGE):
        return RuntimeError(f"{operator.name}: Stride calculation overflowed: more elements than there are addresses")
    try:
        _refused_by_rule(operator, given)
    except DataDependent:
        pass
    except (RuntimeError, TypeError, ValueError, IndexError) as better:
        return better if _is_named(operator, str(better)) else type(better)(f"{operator.name}: {better}")
    plain = type(error) in (RuntimeError, TypeError, ValueError, IndexError) and len(error.args) == 1
    if plain and not _is_named(operator, str(error)):
        error.args = (f"{operator.name}: {error}",)  # the same error, whose traceback stays
    return error


def _is_named(operator: Operator, text: str) -> bool:
    """Whether an error's words name an operator: this one, or at their beginning the one that users call."""
    if text.startswith(("output with shape ", "Subtraction, the `-` operator")):  # PyTorch's words, whichever operator says them
        return True
    start = re.match(r"([\w.]+)(\(\))?: ", text)
    return operator.name in text.lower() or (start is not None and (find(start[1]) is not None or "." in start[1]))


def _refused_by_rule(operator: Operator, given: list[Any]) -> None:
    """Run the shape rule, or a composite's body on meta tensors, for the error that it raises."""
    if operator.shape_rule is not None:
        operator.shape_rule(*[_as_meta(v) for v in given])
    elif operator.body is not None:
        values = {p.name: p.default for p in operator.params}
        values.update(zip((p.name for p in operator.kernel_params), map(as_meta_tensor, given)))
        with RUNTIME["no_grad"]():
            run_body(operator, values)


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


RUNTIME.update(
    dispatch=dispatch,
    dispatch_dunder=dispatch_dunder,
    dispatch_reflected=dispatch_reflected,
    has_gradient=has_gradient,
    attach=attach,
    in_pieces=in_pieces,
    kernel_for=kernel_for,
    recovered=recovered,
    wrong_result=wrong_result,
)
