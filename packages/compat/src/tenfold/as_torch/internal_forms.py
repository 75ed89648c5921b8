"""How PyTorch names the calls of operators beneath its gradient tape: `add(x, 1)` is `aten.add.Tensor(x, 1)`.

`__torch_dispatch__` is handed these. PyTorch makes some operators of others there, `linear` of `t` and `addmm`; so does this
module where programs look for the parts (`_IN_PARTS`). Where Tenfold has a body of its own and PyTorch's parts are not said
here, the body's operators are what is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold._ops import OpOverload, ops
from tenfold.as_torch.asking import Suspended
from tenfold.dispatch.operators import Operator

Values = dict[str, Any]
Form = tuple[OpOverload, tuple[Any, ...], dict[str, Any]]


def internal_form(operator: Operator, values: Values) -> Any:
    """(func, args, kwargs) of a call with all its arguments; None: it is seen by what it is made of.

    A fourth item says which of func's results is the operator's.
    """
    base = operator if operator.inplace_of is None else operator.inplace_of
    special = _SPECIAL.get(base.name)
    if special is not None and operator is base:
        return special(values)
    name = _RENAMED.get(base.name, base.name)
    if base.body is not None and name not in _WHOLE and operator is base:
        return None
    form = _form(base.name, list(values.values()), values)
    packet = getattr(ops.aten, name if operator is base else operator.name, None)
    if packet is None:
        return None if base.body is not None else (_own(base), *_arguments(operator, values))
    return getattr(packet, form), *_arguments(operator, values)


def _own(operator: Operator) -> OpOverload:
    """An operator that only Tenfold has, under its own namespace."""
    packet = _OWN.get(operator.name)
    if packet is None:
        packet = _OWN[operator.name] = type(ops.aten.add)("tenfold", operator.name, operator.fn)
    return packet.default  # type: ignore[no-any-return]


_OWN: dict[str, Any] = {}


def _arguments(operator: Operator, values: Values) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as PyTorch passes them: in order up to the last that is not at its default, lists for tuples."""
    args: list[Any] = []
    kwargs, kept = {}, 0
    for p in operator.params:
        value = values.get(p.name, p.default)
        same = value is p.default or (isinstance(value, (int, float, str)) and value == p.default)
        if p.keyword_only or p.name == "dtype":
            if not same:
                kwargs[p.name] = value
            continue
        if p.role == "args":
            args += value
        else:
            args.append([value] if p.name == "dim" and type(value) is int and operator.name in _LISTS else _listed(value))
        kept = kept if same else len(args)
    return tuple(args[:kept]), kwargs


def _listed(value: Any) -> Any:
    return list(value) if type(value) in (tuple, tenfold.Size) else value


_LISTS = frozenset("sum mean amax amin std var std_mean var_mean flip".split())


def _form(name: str, given: list[Any], values: Values) -> str:
    """The name of an operator's form for these arguments."""
    second = given[1] if len(given) > 1 else None
    if name in _FORMS:
        return _FORMS[name]
    if name in _BY_SECOND:
        return "Tensor" if isinstance(second, Tensor) else "Scalar"
    if name == "pow":
        return f"{_kind(given[0])}_{_kind(second)}" if isinstance(given[0], Tensor) else "Scalar"
    if name in _BY_DIM:
        whole, part = _BY_DIM[name]
        return whole if values.get("dim") is None else part
    if name in ("any", "all", "squeeze"):
        dim = values.get("dim")
        return "default" if dim is None else "dims" if isinstance(dim, (tuple, list)) else "dim"
    if name in ("masked_fill", "lerp", "index_fill"):
        return ("Tensor" if isinstance(given[-1], Tensor) else "Scalar") if name != "index_fill" else f"int_{_kind(given[-1])}"
    if name == "clamp":
        return "Tensor" if any(isinstance(v, Tensor) for v in given[1:]) else "default"
    if name == "where":
        return {"TensorTensor": "self", "TensorScalar": "ScalarOther", "ScalarTensor": "ScalarSelf"}.get(
            _kind(given[1]) + _kind(given[2]), "Scalar"
        )
    if name == "scatter":
        return "src" if any(isinstance(v, Tensor) for v in given[3:]) else "value"
    return "default"


def _kind(value: Any) -> str:
    return "Tensor" if isinstance(value, Tensor) else "Scalar"


# The one form that programs reach, by operator.
_FORMS = {
    **dict.fromkeys("add sub mul div".split(), "Tensor"),
    **dict.fromkeys("select transpose unbind".split(), "int"),
    **dict.fromkeys("slice split index bucketize searchsorted".split(), "Tensor"),
    **dict.fromkeys("max_dim min_dim median_dim".split(), "dim"),
    **dict.fromkeys("var std var_mean std_mean".split(), "correction"),
    "truncated_quotient": "Tensor_mode",
    "sort_pair": "default",
    "scatter_reduce": "two",
    "repeat_interleave": "self_int",
    "isin": "Tensor_Tensor",
    "empty": "memory_format",
}
_BY_SECOND = frozenset(
    "eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor rsub fill bitwise_left_shift bitwise_right_shift".split()
)
_BY_DIM = {"sum": ("default", "dim_IntList"), "mean": ("default", "dim"), "prod": ("default", "dim_int")}
# Tenfold's names for what PyTorch names otherwise.
_RENAMED = {
    "max_dim": "max", "min_dim": "min", "median_dim": "median", "sort_pair": "sort", "topk_pair": "topk",
    "kthvalue_pair": "kthvalue", "cummax_pair": "cummax", "cummin_pair": "cummin", "mode_pair": "mode",
    "vector_norm": "linalg_vector_norm", "truncated_quotient": "div", "constant_pad": "constant_pad_nd",
}  # fmt: skip
# Those that Tenfold has a body for and PyTorch shows as they are.
_WHOLE = frozenset(
    "empty empty_strided full zeros ones constant_pad_nd rsub threshold hardtanh leaky_relu elu celu gelu gelu_backward "
    "silu mish softplus hardshrink softshrink hardsigmoid hardswish glu isposinf isneginf equal logit pixel_shuffle "
    "pixel_unshuffle im2col col2im mse_loss smooth_l1_loss huber_loss binary_cross_entropy avg_pool2d avg_pool3d empty_like "
    "zeros_like ones_like full_like new_zeros new_ones new_empty new_full copy fill zero masked_fill t rot90 repeat "
    "masked_select masked_scatter scatter index_select index_add index_copy index_fill take put select_scatter "
    "slice_scatter diagonal_scatter diag_embed trace dot mv addmm addmv addr baddbmm addbmm frac clamp nan_to_num rand "
    "randn randint randperm rand_like randn_like randint_like bernoulli multinomial uniform_ normal_ random_ exponential_ "
    "geometric_ cauchy_ log_normal_ mean var std var_mean std_mean logsumexp arange linspace logspace eye tril_indices "
    "triu_indices embedding scalar_tensor vdot norm dist".split()
)


def _whole(name: str, form: str = "default") -> Callable[..., Form]:
    """What makes a form of arguments that are already in PyTorch's order."""
    return lambda *args, **kwargs: (getattr(getattr(ops.aten, name), form), args, kwargs)


def _converted(values: Values) -> Form:
    return _whole("_to_copy")(values["input"], **{k: v for k, v in values.items() if k in ("dtype", "device") and v is not None})


def _softmax(name: str) -> Callable[[Values], Form]:
    return lambda v: _whole(name)(v["input"], v["dim"], False)


def _softmax_gradient(name: str) -> Callable[[Values], Form]:
    return lambda v: _whole(name)(v["grad_output"], v["output"], v["dim"], v["output"].dtype)


def _convolution(values: Values) -> Form:
    return _whole("convolution")(values["input"], values["weight"], values["bias"], *_steps(values))


def _steps(values: Values) -> list[Any]:
    rest = [_listed(values[name]) for name in ("stride", "padding", "dilation")]
    return [*rest, values["transposed"], _listed(values["output_padding"]), values["groups"]]


def _layer_norm(values: Values) -> Form:
    x, n = values["input"], values["normalized_ndim"]
    return _whole("native_layer_norm")(x, list(x.shape[x.dim() - n :]), values["weight"], values["bias"], values["eps"])


def _part(values: Values) -> Form | None:
    """One step of indexing, of any dimension: an int, a slice, or None; several are taken one after the other."""
    index = values["index"]
    items = index if type(index) is tuple else (index,)
    steps = [0] if len(items) == 1 else [dim for dim, item in enumerate(items) if item != slice(None)]
    if len(steps) != 1 or items[steps[0]] is Ellipsis:
        return None
    return _step(values["input"], items[steps[0]], steps[0])


def _step(x: Tensor, item: Any, dim: int) -> Form:
    if item is None:
        return _whole("unsqueeze")(x, dim)
    if not isinstance(item, slice):
        return _whole("select", "int")(x, dim, int(item))
    stop = 9223372036854775807 if item.stop is None else item.stop
    return _whole("slice", "Tensor")(x, dim, item.start or 0, stop, *([] if item.step in (None, 1) else [item.step]))


def _gradient(of: int) -> Callable[[Values], Any]:
    """One of the gradients of a convolution, which PyTorch computes in one call: 0 the input's, 1 the weight's."""

    def form(values: Values) -> Any:
        known = values["weight" if of == 0 else "input"]
        shape = values["input_shape" if of == 0 else "weight_shape"]
        with Suspended():
            unread = tenfold.empty(shape, dtype=known.dtype, device="meta")
        given = (unread, known) if of == 0 else (known, unread)
        rest = _steps(values)
        return *_whole("convolution_backward")(values["grad"], *given, None, *rest, [of == 0, of == 1, False]), of

    return form


# Operators whose arguments are in another order than PyTorch's.
_SPECIAL: dict[str, Callable[[Values], Any]] = {
    "to_dtype": _converted,
    "to_device": _converted,
    "softmax": _softmax("_softmax"),
    "log_softmax": _softmax("_log_softmax"),
    "softmax_backward": _softmax_gradient("_softmax_backward_data"),
    "log_softmax_backward": _softmax_gradient("_log_softmax_backward_data"),
    "convolution": _convolution,
    "convolution_input_grad": _gradient(0),
    "convolution_weight_grad": _gradient(1),
    "fused_layer_norm": _layer_norm,
    "getitem": _part,
}


def _linear(values: Values) -> Any:
    x, weight, bias = values["input"], values["weight"], values["bias"]
    if weight.dim() != 2 or x.dim() < 2:
        return NotImplemented
    rows = x if x.dim() == 2 else x.reshape(prod(x.shape[:-1]), x.shape[-1])
    made = rows.mm(weight.t()) if bias is None else tenfold.addmm(bias, rows, weight.t())
    return made if x.dim() == 2 else made.view(*x.shape[:-1], weight.shape[0])


def _matmul(values: Values) -> Any:
    a, b = values["input"], values["other"]
    if a.dim() == 1 and b.dim() == 1:
        return a.dot(b)
    if a.dim() == 2 and b.dim() == 1:
        return a.mv(b)
    if a.dim() == 1 and b.dim() == 2:
        return a.unsqueeze(0).mm(b).squeeze(0)
    if a.dim() == 2 and b.dim() == 2:
        return a.mm(b)
    if a.dim() > 2 and b.dim() <= 2:
        rows = a.reshape(prod(a.shape[:-1]), a.shape[-1])
        return (rows.mm(b) if b.dim() == 2 else rows.mv(b)).view(*a.shape[:-1], *b.shape[1:])
    if a.dim() == 1:
        return a.unsqueeze(0).matmul(b).squeeze(-2)
    batch = tenfold.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n = prod(batch)
    made = _in_batch(a, batch, n).bmm(_in_batch(b, batch, n))
    return made if len(batch) == 1 else made.view(*batch, a.shape[-2], b.shape[-1])


def _in_batch(x: Tensor, batch: Any, n: int) -> Tensor:
    """The matrices of a product, in one batch dimension."""
    if tuple(x.shape[:-2]) != tuple(batch):
        x = x.expand(*batch, *x.shape[-2:])
    return x if len(batch) == 1 else x.reshape(n, *x.shape[-2:])


def _indexed(values: Values) -> Any:
    x, index = values["input"], values["index"]
    items = index if type(index) is tuple else (index,)
    used = sum(item is not None and item is not Ellipsis for item in items)
    dim = 0
    for item in items:
        if item is Ellipsis:
            dim += values["input"].dim() - used
            continue
        if item != slice(None):
            func, args, _ = _step(x, item, dim)
            x = func(*args)
        dim += item is None or isinstance(item, slice)
    return x


# What PyTorch makes of other operators where Tenfold has one of its own.
IN_PARTS: dict[str, Callable[[Values], Any]] = {"linear": _linear, "matmul": _matmul, "getitem": _indexed}


def in_parts(operator: Operator, values: Values) -> Any:
    """The result by the operators that PyTorch makes this one of; NotImplemented: by the body of Tenfold's."""
    made = IN_PARTS.get(operator.name)
    return NotImplemented if made is None else made(values)
