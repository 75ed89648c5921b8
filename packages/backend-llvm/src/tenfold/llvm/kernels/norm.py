"""Layer and root-mean-square normalization and their gradients, and batch normalization: the operators of tenfold-nn.

For y = (x - mean) / std and the gradient h of y, the gradient of x is (h - mean(h) - y mean(h y)) / std.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.columns import Columns
from tenfold.llvm.expressions import Expr, convert, load, parameter, sqrt
from tenfold.llvm.kernels.attaching import chosen, rowwise
from tenfold.llvm.maths import at_least
from tenfold.llvm.programs import Program, empty, over_columns, over_rows, suitable
from tenfold.llvm.rows import Array as Argument, Rows, length, total
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, FLOATING, Stored
from tenfold.settings.threads import on_change

Array = np.ndarray[Any, Any]
INTS = {int}


def statistics_of(stored: Stored) -> Stored:
    """How means and deviations are kept: those of half precision in float32."""
    return FLOAT64 if stored is FLOAT64 else FLOAT32


def _mean(x: Expr) -> Expr:
    return total(x) / length("double")


def _inputs(stored: Stored, places: str, parameters: tuple[Stored | None, ...]) -> tuple[tuple[Argument, ...], list[Expr | None]]:
    """Arguments and their elements: r the data, s statistics of each row, then the parameters, a column each or absent."""
    kinds = [Argument(stored, "row") if p == "r" else Argument(statistics_of(stored), "scalar") for p in places]
    values: list[Expr | None] = [load(i, stored.computed) for i in range(len(kinds))]
    for p in parameters:
        values.append(None if p is None else convert(load(len(kinds), p.computed), stored.computed))
        if p is not None:
            kinds.append(Argument(p, "column"))
    return tuple(kinds), values


def _layer_norm(stored: Stored, weight: Stored | None, bias: Stored | None) -> Rows:
    """The mean is rounded, and what that leaves over is taken off the deviations and their squares."""
    kinds, (x, w, b) = _inputs(stored, "r", (weight, bias))
    assert x is not None
    rounded = convert(_mean(x), x.type)
    deviation = x - rounded
    left = _mean(deviation)
    variance = at_least(_mean(deviation * deviation) - left * left, 0.0)
    rstd = convert(1.0 / sqrt(variance + parameter(0, "double")), x.type)
    y = _scaled((deviation - convert(left, x.type)) * rstd, w, b)
    keep = Argument(statistics_of(stored), "scalar")
    mean = convert(convert(rounded, "double") + left, x.type)
    return Rows(((y, Argument(stored, "row")), (mean, keep), (rstd, keep)), kinds, 1)


def _scaled(y: Expr, weight: Expr | None, bias: Expr | None) -> Expr:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _rms_norm(stored: Stored, weight: Stored | None) -> Rows:
    kinds, (x, w) = _inputs(stored, "r", (weight,))
    assert x is not None
    rstd = convert(1.0 / sqrt(_mean(x * x) + parameter(0, "double")), x.type)
    keep = Argument(statistics_of(stored), "scalar")
    return Rows(((_scaled(x * rstd, w, None), Argument(stored, "row")), (rstd, keep)), kinds, 1)


def _norm_gradient(stored: Stored, weight: Stored | None, centered: bool) -> Rows:
    """The gradient of the rows."""
    kinds, values = _inputs(stored, "rrss" if centered else "rrs", (weight,))
    g, y, rstd, w = _normalized(values, centered)
    h = g if w is None else g * w
    result = h - y * convert(_mean(h * y), g.type)
    result = (result - convert(_mean(h), g.type) if centered else result) * rstd
    return Rows(((result, Argument(stored, "row")),), kinds)


def _parameter_gradients(stored: Stored, centered: bool) -> Columns:
    """The gradients of weight and bias: sums over the rows."""
    kinds, values = _inputs(stored, "rrss" if centered else "rrs", ())
    g, y, _, _ = _normalized([*values, None], centered)
    place = Argument(statistics_of(stored), "column")
    results = ((convert(total(g * y), g.type), place), (convert(total(g), g.type), place))
    return Columns(results if centered else results[:1], kinds)


def _normalized(values: list[Expr | None], centered: bool) -> tuple[Expr, Expr, Expr, Expr | None]:
    """(g, y, 1 / std, weight) from the elements of g, x, mean if centered, 1 / std, weight."""
    *given, w = values
    g, x, *rest = (v for v in given if v is not None)
    y = (x - rest[0]) * rest[1] if centered else x * rest[0]
    return g, y, rest[-1], w


LAYER, RMS = Program("layer_norm", _layer_norm), Program("rms_norm", _rms_norm)
GRADIENT, PARAMETERS = Program("norm gradients", _norm_gradient), Program("norm parameters", _parameter_gradients)


def _parameter(x: Array | None) -> tuple[bool, Stored | None]:
    """Whether a weight or bias can be read, and its dtype."""
    if x is None:
        return True, None
    stored = BY_DTYPE.get(x.dtype)
    return stored in FLOATING and x.flags.carray, stored


class _Call:
    """The arrays of a call as rows; `stored` is None where the kernel beneath has to serve."""

    def __init__(self, normalized_ndim: int, data: tuple[Array, ...], parameters: tuple[Array | None, ...]) -> None:
        self.shape = data[0].shape
        self.lead = self.shape[: len(self.shape) - normalized_ndim]
        self.width = prod(self.shape[len(self.lead) :])
        self.rows = prod(self.lead)
        self.data = [np.ascontiguousarray(a) for a in data]
        found = [_parameter(p) for p in parameters]
        self.dtypes = [stored for _, stored in found]
        self.given = [p for p in parameters if p is not None]
        fine = all(ok for ok, _ in found) and self.width > 0 and self.rows > 0 and all(a.shape == self.shape for a in data)
        self.stored = suitable(*self.data) if fine else None

    def statistics(self, count: int) -> list[Array]:
        assert self.stored is not None
        ones = (1,) * (len(self.shape) - len(self.lead))
        return [np.empty((*self.lead, *ones), statistics_of(self.stored).dtype) for _ in range(count)]


def fused_layer_norm(input: Array, normalized_ndim: int, weight: Array | None, bias: Array | None, eps: float) -> Any:
    call = _Call(normalized_ndim, (input,), (weight, bias))
    if call.stored is None:
        return NotImplemented
    out, (mean, rstd) = empty(input.shape, call.stored), call.statistics(2)
    key = (call.stored, *call.dtypes)
    done = LAYER.rows(key, call.rows, call.width, out, mean, rstd, *call.data, *call.given, float(eps))
    return (out, mean, rstd) if done else NotImplemented


def layer_norm(input: Array, normalized_shape: Any, weight: Array | None, bias: Array | None, eps: float) -> Any:
    """Where no gradient is wanted: the numbers that `fused_layer_norm` gives where one is."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    if (
        {*map(type, shape)} != INTS  # nor what only equals an int
        or input.shape[input.ndim - len(shape) :] != shape
        or any(p is not None and (p.shape != shape or p.dtype != input.dtype) for p in (weight, bias))
    ):
        return NotImplemented  # the operator's body says which dtypes fit each other
    found = fused_layer_norm(input, len(shape), weight, bias, eps)
    return found if found is NotImplemented else found[0]


def fused_rms_norm(input: Array, normalized_ndim: int, weight: Array | None, eps: float) -> Any:
    call = _Call(normalized_ndim, (input,), (weight,))
    if call.stored is None:
        return NotImplemented
    out, (rstd,) = empty(input.shape, call.stored), call.statistics(1)
    done = RMS.rows((call.stored, *call.dtypes), call.rows, call.width, out, rstd, *call.data, *call.given, float(eps))
    return (out, rstd) if done else NotImplemented


class Plan(NamedTuple):
    """What the gradients of arrays of these sizes need beside their addresses."""

    rows: tuple[int, ...]  # the code of the input's gradient, and what it is told
    columns: tuple[int, ...]  # the same of the parameters'
    launch: Any
    allocate: Any  # what makes the input's gradient
    dtype: Any
    shape: tuple[int, ...]  # of a parameter
    kept: Any  # the dtype of sums


_PLANS: dict[Any, Plan] = {}
MOST_PLANS = 1 << 8
on_change(lambda _: _PLANS.clear())


def _plan(call: _Call, centered: bool) -> Plan | None:
    """The plan of a call that is served."""
    stored, session = call.stored, sessions.session()
    assert stored is not None
    assert session is not None
    rows, columns = GRADIENT.address(stored, *call.dtypes, centered), PARAMETERS.address(stored, centered)
    if not rows or not columns:
        return None
    told = (rows, *over_rows(call.rows, call.width)), (columns, *over_columns(1, call.rows, call.width))
    allocate = session.memory.allocator(prod(call.shape) * stored.size)
    shape = call.shape[len(call.lead) :]
    return Plan(*told, session.launch, allocate, stored.dtype, shape, statistics_of(stored).dtype)


def _gradients(grad: Array, input: Array, statistics: tuple[Array, ...], normalized_ndim: int, weight: Array | None) -> Any:
    """The gradients of the input and of the parameters, which are those of a normalization that is centered if there are two
    statistics."""
    given = (*statistics,) if weight is None else (*statistics, weight)
    name = grad.dtype, grad.shape, input.shape, normalized_ndim, len(statistics), *[a.dtype for a in (input, *given)]
    whole = not sessions.USED
    for a in (grad, input, *given):  # a loop, which for so few takes half of what a generator does
        whole = whole and type(a) is np.ndarray and a.flags.carray
    plan = _PLANS.get(name) if whole else None
    if plan is None:
        call = _Call(normalized_ndim, (grad, input), (weight,))
        if call.stored is None or any(s.dtype != statistics_of(call.stored).dtype or not s.flags.carray for s in statistics):
            return NotImplemented
        plan = _plan(call, len(statistics) == 2)
        if plan is None:
            return NotImplemented
        if whole:
            if len(_PLANS) >= MOST_PLANS:
                _PLANS.clear()
            _PLANS[name] = plan
        grad, input = call.data
    rows, columns, launch, allocate, dtype, shape, kept = plan
    out = allocate(input.shape, dtype)
    launch(*rows, out, grad, input, *given)
    sums = [np.empty(shape, kept) for _ in statistics]
    launch(*columns, *sums, grad, input, *statistics)
    return (out, *sums)


def fused_layer_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, normalized_ndim: int, weight: Array | None, eps: float
) -> Any:
    return _gradients(grad, input, (mean, rstd), normalized_ndim, weight)


def fused_rms_norm_grad(grad: Array, input: Array, rstd: Array, normalized_ndim: int, weight: Array | None, eps: float) -> Any:
    return _gradients(grad, input, (rstd,), normalized_ndim, weight)


def _forward(parameters: int) -> Callable[[Stored], list[Any]]:
    """For a dtype the programs' keys by the parameters that are there, in the gate's order of bits."""

    def keys(stored: Stored) -> list[Any]:
        if stored.size == 2:  # whose statistics are float32
            return []
        sets = range(1 << parameters)
        return [(stored, *(stored if there & 1 << i else None for i in range(parameters))) for there in sets]

    return keys


def lead_recorded() -> None:
    """Tell native/norms.ll what the body of `layer_norm` does where gradients are recorded."""
    session = sessions.session()
    if session is not None and session.paths is not None:
        session.native.point("n_kernels", op.fused_layer_norm.calls.kernels)
        session.native.point("n_attach", sys.intern("attach_fused_layer_norm"))
        session.native.point("n_one", 1)
        session.native.point("n_function", op.layer_norm.fn)


FLOATS = "floats"
rowwise("layer_norm", layer_norm, FLOATS, "rtccn", "rss", LAYER, _forward(2))
rowwise("fused_layer_norm", fused_layer_norm, FLOATS, "r1ccn", "rss", LAYER, _forward(2), returns_all=True)
rowwise("fused_rms_norm", fused_rms_norm, FLOATS, "r1cn", "rs", RMS, _forward(1), returns_all=True)
lead_recorded()
chosen("fused_layer_norm_grad", fused_layer_norm_grad, 7, FLOATS)
chosen("fused_rms_norm_grad", fused_rms_norm_grad, 6, FLOATS)
