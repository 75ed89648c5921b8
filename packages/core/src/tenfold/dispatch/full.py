"""The full dispatch of an operator: layers, overriding classes, transforms, promotion, devices, `out=`, in-place.

The generated call paths (callpath.py) shortcut the plain case of what is written here; both mean the same.
The order, outermost first: layers that the thread has entered; argument classes with `__torch_function__`; transforms
(vmap, jvp), whose tensors carry a level; the gradient tape; the device's kernel, or the operator's body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch import beneath, devices
from tenfold.dispatch.agreement import cast, check_dtypes, common_device, promote
from tenfold.dispatch.failures import no_kernel, recovered, wrong_result
from tenfold.dispatch.inplace import any_node, run_inplace
from tenfold.dispatch.layout import lay_out
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.outputs import with_out
from tenfold.dispatch.overrides import call_overrides
from tenfold.dispatch.runtime import RUNTIME, STATE, through_layers
from tenfold.dispatch.services import SERVICES
from tenfold.types import dtypes

NUMBERS = (int, float, complex)
_OPERANDS = (*NUMBERS, np.generic)


def dispatch(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901 - the whole of the path, case by case
    """Carry a call out in full generality."""
    if STATE.layers:
        return through_layers(operator, *as_called(operator, args, kwargs))
    first = getattr(type(args[0]), "_key", None) and args[0]._key if args else None
    if first is not None and first.level is not None:
        result = first.transform.quick(operator, args, kwargs)
        if result is not NotImplemented:
            return result
    values = operator.bind(args, kwargs)
    if operator.overload_body is not None:
        asked = [v for v in values.values() if hasattr(type(v), "__torch_function__")]
        if _overriding(asked):  # before the body looks at them: their classes see the call, nothing else
            return call_overrides(operator, asked, *as_called(operator, args, kwargs))
        result = operator.overload_body(**{name: number(v) if isinstance(v, np.generic) else v for name, v in values.items()})
        if result is not NotImplemented:
            target = None if operator.inplace_of is None else values[operator.params[0].name]
            return result if target is None or result is target else target.copy_(result)
    tensors = _check_arguments(operator, values)
    if _overriding(tensors):
        return call_overrides(operator, tensors, *as_called(operator, args, kwargs))
    tensors = [t for t in tensors if hasattr(type(t), "_array")]
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
    if hasattr(type(other), "_array") or isinstance(other, _OPERANDS) or hasattr(type(other), "__torch_function__"):
        return dispatch(operator, (input, other), {})
    if isinstance(other, np.ndarray) and operator.inplace_of is None:
        return _with_ndarray(operator, input, other)
    return NotImplemented


def number(value: Any) -> Any:
    """A number of NumPy's as Python's; its bool is a float, as in PyTorch."""
    return float(value) if value.dtype.char in "?g" else value.item()


def _with_ndarray(operator: Operator, input: Any, other: Any) -> Any:
    """An operation with a NumPy array has NumPy's result type, in which a 0-d array counts as any other."""
    common = dtypes.from_numpy(np.result_type(input._array.dtype, other.dtype))
    if operator.name == "div" and common.category < 2:
        common = dtypes.float64
    other = RUNTIME["wrap"](np.asarray(other, common.numpy), devices.located(devices.CPU))
    return dispatch(operator, (cast(input, common), other), {})


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
            values[p.name] = number(value)
        if p.role in ("value", "ints", "args"):
            continue
        if hasattr(type(value), "_array") and p.role != "list":
            tensors.append(value)
        elif value is None and p.role in ("optional", "list"):
            continue
        elif p.role == "list" and isinstance(value, (list, tuple)):
            for item in value:
                if hasattr(type(item), "_array") or hasattr(type(item), "__torch_function__"):
                    tensors.append(item)
                elif item is not None or not p.holes:
                    raise TypeError(
                        f"{operator.name}(): expected Tensor as element {len(tensors)} in argument {position}, "
                        f"but got {type(item).__name__}"
                    )
        elif p.role == "number" and isinstance(value, (*NUMBERS, np.generic)):
            continue
        elif hasattr(type(value), "__torch_function__") and not (p.role == "list" and hasattr(type(value), "_array")):
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
        if not all(hasattr(type(t), "__torch_function__") for t in tensors):
            raise TypeError(f"{operator.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    return tensors


def _overriding(tensors: list[Any]) -> bool:
    for t in tensors:
        if t._key.override and not STATE.overrides_off if hasattr(type(t), "_key") else hasattr(type(t), "__torch_function__"):
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
        narrow = promote(operator, values, common_device(operator, values, tensors))
        check_dtypes(operator, values)
    result = transform.process(operator, values)
    if recording:
        attach(operator, result, {name: transform.lifted(value) for name, value in values.items()})
    return result if narrow is None else result.to(narrow)


def _plain(operator: Operator, values: dict[str, Any], tensors: list[Any]) -> Any:
    if operator.mixed and any(t._key is not tensors[0]._key for t in tensors):
        return run_body(operator, values)
    key = common_device(operator, values, tensors)
    narrow = None if operator.promote is None else promote(operator, values, key)
    check_dtypes(operator, values)
    result = execute(operator, key, values)
    return result if narrow is None else result.to(narrow)


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
