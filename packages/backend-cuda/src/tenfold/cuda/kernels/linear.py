"""The affine map of tenfold-nn and its gradients: a call of cuBLASLt each for the result, for the input's gradient, and for
the weight's with the bias'.

What cuBLASLt does not serve goes through the operators' bodies, a product and a sum.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tenfold.cuda import products, runtime
from tenfold.cuda.attaching import kernel, where_its_arrays_are
from tenfold.cuda.cublaslt import BIAS, BIAS_GRADIENT_OF_B, PLAIN
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.tensor.tensor import wrap

MATRIX = 2  # dimensions


@kernel(op.linear, device="cuda", over=(op.mm, op.bmm, op.matmul))
def linear(input: Any, weight: Any, bias: Any) -> Any:
    if weight.ndim != 2 or not input.ndim or input.shape[-1] != weight.shape[1] or input.dtype.kind in "iub":
        return NotImplemented
    if bias is not None:
        if bias.shape != weight.shape[:1] or bias.dtype != input.dtype:
            return NotImplemented
        if bias.flags.c_contiguous:
            found = products.multiply(input, weight, bias=bias, epilogue=BIAS, b_is_turned=True)
            if found is not None:
                return found
    found = products.multiply(input, weight, b_is_turned=True)
    if found is None:
        return NotImplemented
    return found if bias is None else _kernel("add")(found, bias)


@where_its_arrays_are
def _gradients(g: Any, x: Any, w: Any) -> tuple[Any, Any, Any] | None:
    """(of the bias, of the input, of the weight); None where one of them has to be computed otherwise."""
    of_input = products.multiply(g, w)
    if of_input is None:
        return None
    g, x = g.reshape(-1, g.shape[-1]), x.reshape(-1, x.shape[-1])
    now = runtime.current()
    of_bias = now.empty(g.shape[1:], g.dtype, now.index_of(g))
    of_weight = products.multiply(g.T, x, bias=of_bias, epilogue=BIAS_GRADIENT_OF_B)
    if of_weight is None:
        of_weight, of_bias = products.multiply(g.T, x, epilogue=PLAIN), _kernel("sum")(g, 0, False)
    return None if of_weight is None else (of_bias, of_input, of_weight)


def _kernel(name: str) -> Any:
    from tenfold.dispatch.kernels import table

    return getattr(table("cuda"), name)


def gradients(g: Any, input: Any, weight: Any) -> tuple[Any, Any, Any] | None:
    """The three gradients of an affine map with a bias, where nobody can see how; None for the operators."""
    key = g._key
    if STATE.grad_enabled or RUNTIME["ACTIVE"] or key.level is not None or not key is input._key is weight._key:
        return None
    arrays = g._array, input._array, weight._array
    if arrays[0].dtype.kind in "iub" or arrays[2].ndim != MATRIX or not arrays[0].ndim:
        return None
    found = _gradients(*arrays)
    return None if found is None else tuple(wrap(x, key) for x in found)  # type: ignore[return-value]


def _attach() -> None:
    with suppress(ImportError):
        from tenfold.autograd.rules.passing import TOGETHER  # tenfold-autograd is an extra

        TOGETHER["linear on cuda"] = gradients


_attach()
