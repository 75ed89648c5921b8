"""Layers' units: formulas in one pass each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import largest, run
from tenfold.cuda.kernels.folds import Fold, folded
from tenfold.cuda.kernels.summing import total
from tenfold.dispatch.operators import op

HALF_BYTES = 2

for _name in ("leaky_relu", "celu", "mish", "silu", "silu_backward", "softsign", "tanhshrink", "logsigmoid", "elu",
              "hardsigmoid", "hardswish", "selu"):  # fmt: skip

    def _formula(name: str) -> Callable[..., Any]:
        def activation(*operands: Any, out: Any = None) -> Any:
            if not _held(*operands):
                return NotImplemented
            return run(name, *operands, out=out)

        activation.__name__ = name
        return activation

    kernel(getattr(op, _name), device="cuda", plays=True, into=True)(_formula(_name))


def _held(input: Any, *options: Any) -> bool:
    """Whether the options are numbers of the dtype that is computed in; the body refuses others."""
    numbers = [o for o in options if type(o) in (int, float)]
    most = largest(np.dtype(np.float32) if input.dtype.itemsize == HALF_BYTES else input.dtype) if numbers else 0.0
    return all(not most < abs(o) < float("inf") for o in numbers)


@kernel(op.relu6, device="cuda", plays=True, into=True)
def relu6(input: Any, out: Any = None) -> Any:
    return run("clamp", input, 0.0, 6.0, out=out) if _is_floating(input) else NotImplemented


@kernel(op.hardtanh, device="cuda", plays=True, into=True)
def hardtanh(input: Any, min_val: float, max_val: float, out: Any = None) -> Any:
    """Of floating-point numbers, with limits that they hold; the body refuses limits in the wrong order."""
    if not _is_floating(input) or not min_val <= max_val or max(-min_val, max_val) > largest(input.dtype):
        return NotImplemented
    return run("clamp", input, float(min_val), float(max_val), out=out)


@kernel(op.softplus, device="cuda", plays=True)
def softplus(input: Any, beta: float, threshold: float) -> Any:
    if not _held(input, beta, threshold):
        return NotImplemented
    return run("softplus", input, beta, threshold)


@kernel(op.gelu, device="cuda", plays=True, recycles=True)
def gelu(input: Any, approximate: str) -> Any:
    name = {"none": "gelu", "tanh": "gelu_tanh"}.get(approximate)
    return NotImplemented if name is None else run(name, input)


@kernel(op.gelu_backward, device="cuda", plays=True)
def gelu_backward(grad_output: Any, input: Any, approximate: str) -> Any:
    name = {"none": "gelu_backward", "tanh": "gelu_tanh_backward"}.get(approximate)
    return NotImplemented if name is None else run(name, grad_output, input)


@kernel(op.hardshrink, device="cuda", plays=True)
def hardshrink(input: Any, lambd: float) -> Any:
    if not _is_floating(input) or not _held(input, lambd):
        return NotImplemented
    # Half precision rounds the limit, too.
    return run("hardshrink", input, float(np.asarray(lambd, input.dtype)) if input.dtype.itemsize == HALF_BYTES else lambd)


@kernel(op.softshrink, device="cuda", plays=True)
def softshrink(input: Any, lambd: float) -> Any:
    return (
        run("softshrink", input, float(lambd)) if _is_floating(input) and 0 <= lambd <= largest(input.dtype) else NotImplemented
    )


@kernel(op.threshold, device="cuda", plays=True, into=True)
def threshold(input: Any, threshold: float, value: float, out: Any = None) -> Any:
    """Of floating-point numbers, with a value that they hold."""
    if not _is_floating(input) or largest(input.dtype) < abs(value) < float("inf"):
        return NotImplemented
    return run("threshold", input, float(threshold), float(value), out=out)


@kernel(op.fused_unit_grad, device="cuda", plays=True)
def fused_unit_grad(grad: Any, input: Any, kind: str, a: float, b: float) -> Any:
    if grad.dtype != input.dtype or not _is_floating(input):
        return NotImplemented
    if kind == "shrink" and input.dtype.itemsize == HALF_BYTES:
        a = float(np.asarray(a, input.dtype))  # which rounds the limit, too
    return run(f"{kind}_slope", grad, input, a, b)


def _slopes(input: Any, weight: Any) -> Any:
    """The weights of prelu as they lie along the input; None for what is no weight of it."""
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.dtype != input.dtype or weight.ndim > 1 or weight.size not in (1, channels):
        return None
    return weight.reshape((-1,) + (1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(())


@kernel(op.prelu, device="cuda", plays=True)
def prelu(input: Any, weight: Any) -> Any:
    slopes = _slopes(input, weight)
    return NotImplemented if slopes is None else run("prelu", input, slopes)


@kernel(op.fused_prelu_grad, device="cuda", plays=True)
def fused_prelu_grad(grad: Any, input: Any, weight: Any) -> Any:
    slopes = _slopes(input, weight)
    if slopes is None or grad.dtype != input.dtype or not _is_floating(input) or grad.shape != input.shape or not grad.size:
        return NotImplemented
    to_weight: Any = NotImplemented
    if weight.size == 1:
        to_weight = total("prelu_weight_slope", 1.0, grad, input)
    if to_weight is NotImplemented:
        each = run("prelu_weight_slope", grad, input)
        to_weight = folded(Fold("sum"), each, tuple(d for d in range(each.ndim) if d != 1 or weight.size == 1), False)
    return run("prelu_slope", grad, input, slopes), to_weight.reshape(weight.shape)


def _halves(input: Any, dim: int) -> tuple[Any, int, tuple[slice, ...]] | None:
    """(the dimension, half its size, what comes before it); None for what has no halves."""
    if not input.ndim or not -input.ndim <= dim < input.ndim or input.shape[dim] % 2:
        return None
    dim %= input.ndim
    return dim, input.shape[dim] // 2, (slice(None),) * dim


@kernel(op.glu, device="cuda", plays=True)
def glu(input: Any, dim: int) -> Any:
    found = _halves(input, dim)
    if found is None:
        return NotImplemented
    _, half, lead = found
    return run("glu", input[(*lead, slice(0, half))], input[(*lead, slice(half, None))])


_second: dict[tuple[int, int], Any] = {}  # of each GPU and stream: which half is the second
runtime.ON_REPLACE.append(_second.clear)
runtime.AFTER_FORK.append(_second.clear)


@kernel(op.fused_glu_grad, device="cuda", plays=True)
def fused_glu_grad(grad: Any, input: Any, dim: int) -> Any:
    """Both halves of the gradient in one launch, as a dimension of their own."""
    found = _halves(input, dim)
    if found is None or grad.dtype != input.dtype or not _is_floating(input):
        return NotImplemented
    dim, half, lead = found
    now = runtime.current()
    index = now.index_of(input)
    place = capturing.place(now, index)
    which = _second.get(place)
    if which is None:
        which = _second[place] = capturing.constant(now, np.array([False, True]), index)
    capturing.lasting(which)
    out = now.empty(input.shape, input.dtype, index)
    pair = (*lead, None)
    halves = (input[(*lead, slice(0, half))][pair], input[(*lead, slice(half, None))][pair])
    result = out.reshape((*input.shape[:dim], 2, half, *input.shape[dim + 1 :]))
    run("glu_slope", grad[pair], *halves, which.reshape((2,) + (1,) * (input.ndim - dim)), out=result)
    return out


def _is_floating(array: Any) -> bool:
    return array.dtype.kind in "fV"
