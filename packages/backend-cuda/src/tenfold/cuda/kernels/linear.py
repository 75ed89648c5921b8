"""The affine map of tenfold-nn and its gradients: a call of cuBLASLt each for the result, for the input's gradient, and for
the weight's with the bias'.

What cuBLASLt does not serve goes through the operators' bodies, a product and a sum.
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda import products, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.cublaslt import BIAS, BIAS_GRADIENT_OF_B, PLAIN
from tenfold.cuda.kernels.handwritten import contiguous
from tenfold.cuda.kernels.together import register
from tenfold.cuda.precision import switches
from tenfold.dispatch.operators import op

MATRIX = 2  # dimensions


@kernel(op.linear, device="cuda", plays=switches, recycles=True, over=(op.mm, op.bmm, op.matmul))
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


def _gradients(g: Any, x: Any, w: Any) -> Any:
    """(of the bias, of the input, of the weight); NotImplemented where one of them has to be computed otherwise."""
    if g.dtype.kind in "iub" or w.ndim != MATRIX or not g.ndim:
        return NotImplemented
    lead, g, x = g.shape[:-1], _rows(g), _rows(x)
    of_input = products.multiply(g, w)
    if of_input is None:
        return NotImplemented
    of_input = of_input.reshape(*lead, w.shape[1])
    now = runtime.current()
    of_bias = now.empty(g.shape[1:], g.dtype, now.index_of(g))
    of_weight = products.multiply(g.T, x, bias=of_bias, epilogue=BIAS_GRADIENT_OF_B)
    if of_weight is None:
        of_weight, of_bias = products.multiply(g.T, x, epilogue=PLAIN), _kernel("sum")(g, 0, False)
    return NotImplemented if of_weight is None else (of_bias, of_input, of_weight)


def _rows(x: Any) -> Any:
    """All dimensions but the last one as one; a copy where they do not lie so, which all products then read."""
    merged = products.merged([(n, (step,)) for n, step in zip(x.shape[:-1], x.strides[:-1])])
    return (x if len(merged) <= 1 else contiguous(x)).reshape(-1, x.shape[-1])


def _kernel(name: str) -> Any:
    from tenfold.dispatch.kernels import table

    return getattr(table("cuda"), name)


register("linear", _gradients, switches)
