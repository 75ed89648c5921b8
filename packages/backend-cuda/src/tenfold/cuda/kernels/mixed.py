"""Elementwise calls on tensors of several dtypes in one launch: what is promoted is converted where it is read, not before.

Where gradients are recorded that is done for sums and differences, whose gradients ask for no value of the operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.geometry import broadcast
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS
from tenfold.cuda.kernels.multi_tensor import written
from tenfold.dispatch import beneath
from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.dtypes import from_numpy
from tenfold.types.promotion import of_values

SERVED = "add sub mul div maximum minimum fmax fmin atan2 eq ne lt le gt ge"
IN_PLACE = "add sub mul div"
LINEAR = ("add", "sub")
SCALED = ("add_scaled", "sub_scaled")  # what sums and differences with a multiple are to the operators beneath


def _common(x: Any, y: Any) -> Any:
    """The dtype (NumPy's) in which two tensors meet, if both are read in it as a cast of them would be; None otherwise."""
    a, b = x._array.dtype, y._array.dtype
    if a == b or (a not in FLOATS and b not in FLOATS):
        return None
    common = of_values((x, y)).numpy
    return common if _reads(a, common) and _reads(b, common) else None


def _reads(dtype: Any, common: Any) -> bool:
    """Whether a kernel converts as a cast does: to half precision by way of float32, which would round a float64 twice."""
    return dtype == common or dtype.kind in "biu" or (dtype in FLOATS and (common in (F32, F64) or dtype != F64))


def _plain(x: Any, y: Any) -> bool:
    """Whether both are tensors of one GPU that nobody looks at."""
    if type(x) is not Tensor or type(y) is not Tensor or x._key is not y._key:
        return False
    return x._key.level is None and x._key.device.type == "cuda" and not beneath.is_asked([x, y])


def _is_multiple(alpha: Any) -> bool:
    """Whether a kernel takes it: ints of more than 64 bits are refused by the operator."""
    return type(alpha) is float or (type(alpha) is int and alpha.bit_length() < 64)


def _shape(x: Any, y: Any) -> tuple[int, ...] | None:
    try:
        return broadcast([x._array.shape, y._array.shape])
    except ValueError:  # the operator has the words
        return None


def _asked(operator: Operator, serve: Callable[..., Any]) -> Callable[..., Any]:
    """The operator's overload, and what serves two tensors of this device, where it has nothing to say of them."""
    first, second = (p.name for p in operator.params[:2])
    before = operator.overload_body

    def overload(**values: Any) -> Any:
        result = NotImplemented if before is None else before(**values)
        x, y, alpha = values[first], values[second], values.get("alpha", 1)
        if result is not NotImplemented or not _plain(x, y) or not _is_multiple(alpha):
            return result
        if values.get("rounding_mode") is not None or values.get("out") is not None:
            return NotImplemented
        common = _common(x, y)
        if common is None or (alpha != 1 and common not in (F32, F64)):  # half precision rounds the multiplier
            return NotImplemented
        return serve(operator, x, y, alpha, common)

    return overload


def _run(name: str, x: Any, y: Any, alpha: float, common: Any, out: Any = None) -> Any:
    if alpha == 1 and name not in SCALED:
        return run(name, x._array, y._array, out=out, common=common)
    return run("add_scaled", x._array, y._array, float(-alpha if name == "sub" else alpha), out=out, common=common)


def _served(operator: Operator, x: Any, y: Any, alpha: float, common: Any) -> Any:
    recording = STATE.grad_enabled and (x._node is not None or y._node is not None) and operator.nondifferentiable is None
    if _shape(x, y) is None or (recording and (operator.name not in LINEAR or alpha != 1)):
        return NotImplemented
    result = _run(operator.name, x, y, alpha, common)
    if result is NotImplemented:
        return NotImplemented
    made = wrap(result, x._key)
    if recording:
        RUNTIME["attach"](operator, made, {p.name: _as(v, common) for p, v in zip(operator.kernel_params, (x, y), strict=True)})
    return made


def _as(tensor: Any, common: Any) -> Any:
    """The tensor at the place in the graph that its cast would have; its values are those of the cast when they are read."""
    if tensor._array.dtype == common or tensor._node is None:
        return tensor
    cast = wrap(tensor._array, tensor._key)
    RUNTIME["attach"](OPERATORS["to_dtype"], cast, {"input": tensor, "dtype": from_numpy(common)})
    return cast


def _written(operator: Operator, x: Any, y: Any, alpha: float, common: Any) -> Any:
    base = operator.inplace_of
    assert base is not None
    if not _may_be_written(x, y) or _run(base.name, x, y, alpha, common, x._array) is NotImplemented:
        return NotImplemented
    written([x])
    return x


def _may_be_written(x: Any, y: Any) -> bool:
    """Whether a float is written that no graph has, and that shares no memory with the other operand."""
    storage, now = x._storage, runtime.current()
    if x._array.dtype not in FLOATS or _shape(x, y) != x._array.shape:
        return False
    if storage is not None and (storage.guarded or hasattr(storage, "detached")):
        return False
    if STATE.grad_enabled and any(t is not None and t._node is not None for t in (x, y, x._base, y._base)):
        return False
    return now.memory(x._array)[0] is not now.memory(y._array)[0]


for _name in (*SERVED.split(), *SCALED):
    OPERATORS[_name].overload_body = _asked(OPERATORS[_name], _served)
for _name in (*IN_PLACE.split(), *SCALED):
    OPERATORS[_name + "_"].overload_body = _asked(OPERATORS[_name + "_"], _written)
