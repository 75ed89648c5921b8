"""Calls with `out=`: which tensors can take a result."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.dispatch.inplace import any_node, is_refused, write_out
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.overlap import refuse_outputs
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.types import dtypes, promotion
from tenfold.types.dtypes import c_name, type_name


def with_out(operator: Operator, values: dict[str, Any], out: Any) -> Any:
    """Compute, then write into `out`, which is resized when its shape is another."""
    outs = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    _require_plain(operator, values, outs)
    given = [*values.values(), *outs, *(t._base for t in outs)]
    recording = STATE.grad_enabled and operator.nondifferentiable is None and any_node(given)
    if recording and (not operator.no_derivative or any(map(is_refused, outs))):
        raise RuntimeError(
            f"{operator.name}(): functions with out=... arguments don't support automatic differentiation, "
            f"but one of the arguments requires grad."
        )
    refuse_outputs(operator, outs, values)
    if "requires_grad" in values:  # a factory
        _follow(operator, values, outs[0])
    if operator.out == "bool or uint8":  # asked before whether there is such a dimension
        _check_out_dtype(operator, values, outs[0].dtype, dtypes.bool_, "result")
    if operator.name in ("amax", "amin") and values["input"].dtype is not outs[0].dtype:
        _check_out_dtype(operator, values, outs[0].dtype, values["input"].dtype, "result")
    if operator.out == "computed":
        _compute_in(operator, values, outs[0].dtype)
    result = _in_kind(operator, operator.fn(**values), outs)
    if operator.name == "multinomial" or ("requires_grad" in values and not any(hasattr(v, "_array") for v in values.values())):
        result = _fitted(operator, outs[0], result)
    _keep_shape(operator, values, outs[0], result)
    names = getattr(result, "_fields", ("result",))
    results = result if isinstance(result, tuple) else (result,)
    if isinstance(out, (tuple, list)) != (results is result) or len(outs) != len(results):
        wanted = f"tuple of {len(results)} Tensors" if results is result else "Tensor"
        raise TypeError(f"{operator.name}(): argument 'out' must be {wanted}, not {type(out).__name__} of {len(outs)}")
    for name, given, made in zip(names, outs, results):
        if made.dtype is not given.dtype and not _converts(operator, given.dtype, made.dtype):
            _check_out_dtype(operator, values, given.dtype, made.dtype, name)
    written = tuple(map(write_out, outs, results))
    if recording and any_node([*results, *outs]):  # of an operator without derivative
        SERVICES.autograd().rebase(outs[0], result, False, operator)
    return type(result)(*written) if hasattr(result, "_fields") else written if result is results else written[0]


def _keep_shape(operator: Operator, values: dict[str, Any], out: Any, result: Any) -> None:
    """RuntimeError when an output would be resized that is an argument."""
    if (
        (operator.pointwise or operator.family == "powers")
        and result.shape != out.shape
        and any(v is out for v in values.values())
    ):
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(result.shape)}")


def _fitted(operator: Operator, out: Any, result: Any) -> Any:
    """A factory's result for its output, which is resized without a warning, but for counts that rounding may have changed."""
    if result.numel() == out.numel():
        return result.view(out.shape) if operator.out == "filled" else result
    if out.numel() and operator.name.endswith(("arange", "freq")):
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which does not match the "
            f"computed number of elements {result.numel()}, perhaps by rounding. The out tensor will be resized.",
            stacklevel=4,
        )
    out.resize_(0)
    return result


def _require_plain(operator: Operator, values: dict[str, Any], outs: tuple[Any, ...]) -> None:
    """Refuse what vmap or forward mode wraps."""
    for value in (*values.values(), *outs):
        if getattr(getattr(value, "_key", None), "level", None) is not None:
            value._key.transform.refuse_output(operator)


def _compute_in(operator: Operator, values: dict[str, Any], given: dtypes.dtype) -> None:
    """Let the dtype of the output be that of the computation; RuntimeError when another one is asked for."""
    if values["dtype"] not in (None, given):
        wanted = c_name(values["dtype"])
        raise RuntimeError(f"{operator.name}: Expected out tensor to have dtype {wanted}, but got {c_name(given)} instead")
    values["dtype"] = given


def _in_kind(operator: Operator, result: Any, outs: Any) -> Any:
    """Truth values as the output wants them."""
    return result.to(outs[0].dtype) if operator.out == "bool or uint8" else result


def _follow(operator: Operator, values: dict[str, Any], out: Any) -> None:
    """Let a factory make what its output holds; RuntimeError when another dtype is asked for."""
    values["device"] = values.get("device") or out.device
    if "dtype" not in values:
        return
    default = next(p.default for p in operator.params if p.name == "dtype")
    if values["dtype"] is not default and values["dtype"] is not out.dtype:
        raise RuntimeError(
            f"{operator.name}: dtype {type_name(values['dtype'])} does not match dtype of out parameter ({type_name(out.dtype)})"
        )
    values["dtype"] = out.dtype
    if values.get("layout") not in (None, out.layout):
        raise RuntimeError(f"{operator.name}: layout {values['layout']} does not match layout of out parameter ({out.layout})")


def _converts(operator: Operator, given: dtypes.dtype, made: dtypes.dtype) -> bool:
    """Whether an operator converts its result into an output of any dtype that has room for it."""
    if operator.out == "joined" and not promotion.can_cast(made, given):
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {dtypes.type_name(given)}")
    return operator.out in ("converted", "joined")


def _check_out_dtype(operator: Operator, values: dict[str, Any], given: dtypes.dtype, made: dtypes.dtype, name: str) -> None:
    """Refuse another dtype for the results of operators that convert none, in PyTorch's words."""
    if operator.out == "same" and (name != "result" or operator.name not in ("max", "min")):
        raise RuntimeError(f"Expected out tensor to have dtype {c_name(made)}, but got {c_name(given)} instead")
    if operator.out == "long":
        raise RuntimeError(f"{operator.name}: Expected out tensor to have scalar type Long but got scalar type{type_name(given)}")
    if operator.family == "linalg" and not promotion.can_cast(made, given):
        what = "eigenvalues" if operator.name == "linalg_eigvals" else name
        raise RuntimeError(
            f"torch.{operator.name.replace('linalg_', 'linalg.')}: Expected {what} to be safely castable from {type_name(made)} "
            f"dtype, but got {what} with dtype {type_name(given)}"
        )
    if operator.family == "fft" and given.is_complex:
        raise RuntimeError(f"{operator.name[4:]} expects a floating point output tensor, but got {type_name(given)}")
    if operator.out == "scalar type":
        raise RuntimeError(f"{operator.name}: expected scalar_type {type_name(made)} but found {type_name(given)}")
    if operator.out == "bool or uint8" and given.name not in ("bool", "uint8"):
        raise RuntimeError(f"{operator.name} only supports bool tensor for result, got: {dtypes.type_name(given)}")
    if operator.out == "named":
        what = f"dtype {c_name(made)}" if made.is_floating_point else f"{c_name(made)} dtype"
        raise RuntimeError(f"torch.{operator.name}() expects {name} to have {what} but got {c_name(given)}")
    if operator.name == "complex":
        raise RuntimeError(
            f"Expected object of scalar type {type_name(made)} but got scalar type {type_name(given)} for argument 'out'"
        )
    if operator.out == "bool":
        raise RuntimeError(f"{operator.name} does not support non-boolean outputs.")
    first = values[operator.params[0].name]
    made = first.dtype if operator.name == "abs" and given.is_complex else made  # as if its result were complex
    if operator.name in ("clamp", "clamp_min", "clamp_max"):
        alone = sum(hasattr(v, "_array") for v in values.values()) == 1
    else:
        alone = operator.promote is None and sum(p.role != "value" for p in operator.params) == 1 and first.dtype is made
    if operator.family == "pointwise" and alone and made is not given:
        raise RuntimeError(f"Found dtype {type_name(given)} but expected {type_name(made)}")
