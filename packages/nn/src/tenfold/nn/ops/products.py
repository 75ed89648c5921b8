"""Products that programs call by PyTorch's private names: with an activation, of bytes, of 8-bit numbers with scales."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import BY_NAME

EXACT = 2**24 // (255 * 128)  # products of bytes of which float32 keeps every sum
EIGHT_BITS = tuple(BY_NAME[name] for name in ("float8_e4m3fn", "float8_e5m2"))


@composite("products", method=None, promote="same", out="same")
def _addmm_activation(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex = 1, alpha: complex = 1, use_gelu: bool = False
) -> Tensor:
    """ReLU or GELU of beta * input + alpha * mat1 @ mat2.

    GELU is the exact one on the CPU and its approximation by tanh on GPUs, as in PyTorch.
    Shape: what broadcasts to (M, N), (M, K), (K, N) -> (M, N). Raises: RuntimeError when the sizes differ.

    >>> import tenfold
    >>> tenfold._addmm_activation(tenfold.ones(2), tenfold.ones(1, 3), -tenfold.ones(3, 2))
    tensor([[0., 0.]])
    """
    found = tf.addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    if not use_gelu:
        return found.relu()
    return tf.nn.functional.gelu(found, approximate="none" if found.device.type == "cpu" else "tanh")


@composite("products", method=None)
def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """Product of matrices of 8-bit floating numbers: (scale_a * input) @ (scale_b * mat2) + bias, summed in float32.

    Shape: (M, K), (K, N), one scale each or (M, 1) and (1, N), (N) -> (M, N). Dtype: float8_e4m3fn or float8_e5m2, scales in
    float32; the result has `out_dtype`, at first that of `input`. `scale_result` has no part in it; `use_fast_accum` lets GPUs
    round sums more often. GPUs need compute capability 8.9, `mat2` column by column, and K and N that are multiples of 16.
    Raises: RuntimeError for sizes, ValueError for scales that do not fit.

    >>> import tenfold
    >>> x, one = tenfold.ones(1, 16).to(tenfold.float8_e4m3fn), tenfold.tensor(0.5)
    >>> tenfold._scaled_mm(x, x.t(), one, one, out_dtype=tenfold.float32)
    tensor([[4.]])
    """
    check_scaled(*[None if x is None else x._array for x in (input, mat2, scale_a, scale_b, bias)])
    product = (input.float() * scale_a).mm(mat2.float() * scale_b)
    if bias is not None:
        product = product + bias.float()
    return product.to(out_dtype or input.dtype)


@composite("products", method=None)
def _int_mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of matrices of 8-bit whole numbers, which is int32: exactly, as sums of products of floats are while they fit.

    Shape: (M, K), (K, N) -> (M, N). Dtype: int8 or uint8, and int8. Raises: RuntimeError for other sizes and dtypes.

    >>> import tenfold
    >>> x = tenfold.full((1, 2), 100, dtype=tenfold.int8)
    >>> tenfold._int_mm(x, x.t())
    tensor([[20000]], dtype=tenfold.int32)
    """
    check_whole(input._array, mat2._array)
    wide = tf.float32 if input.size(1) <= EXACT else tf.float64
    return input.to(wide).mm(mat2.to(wide)).to(tf.int32)


def check_whole(input: Any, mat2: Any) -> None:
    """Refuse what is no pair of matrices of bytes whose sizes fit."""
    for name, x, accepted in (("self", input, ("int8", "uint8")), ("mat2", mat2, ("int8",))):
        if len(x.shape) != 2:
            raise RuntimeError(f"_int_mm: Expected {name} to be of dimension 2 but got {len(x.shape)}")
        if x.dtype.name not in accepted:
            raise RuntimeError(f"_int_mm: Expected {name} dtype to be {' or '.join(accepted)} but got {x.dtype}; convert it")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"_int_mm: self.size(1) needs to match mat2.size(0) but got {input.shape[1]} and {mat2.shape[0]}")


@_int_mm.rule
def _(input, mat2):  # type: ignore[no-untyped-def]
    check_whole(input, mat2)
    return Meta((input.shape[0], mat2.shape[1]), tf.int32.numpy)


def check_scaled(input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any) -> None:
    """Refuse arrays whose sizes, dtypes or scales do not fit, with PyTorch's exception types."""
    for name, x in (("mat1", input), ("mat2", mat2)):
        if len(x.shape) != 2:
            raise RuntimeError(f"_scaled_mm: {name} must be a matrix, got shape {list(x.shape)}")
    (M, K), (K2, N) = input.shape, mat2.shape
    if K != K2:
        raise RuntimeError(f"_scaled_mm: mat_a and mat_b shapes cannot be multiplied ({M}x{K} and {K2}x{N})")
    sizes = tuple(scale_a.shape), tuple(scale_b.shape)
    eight = [d.numpy for d in EIGHT_BITS]
    single = all(set(size) <= {1} for size in sizes)
    if (
        any(x.dtype not in eight for x in (input, mat2))
        or any(s.dtype != tf.float32.numpy for s in (scale_a, scale_b))
        or not (single or sizes == ((M, 1), (1, N)))
    ):
        raise ValueError(
            "Invalid scaling configuration. _scaled_mm takes matrices of float8_e4m3fn or float8_e5m2 and scales in float32, one "
            f"each, or of shapes ({M}, 1) and (1, {N}); got {input.dtype} and {mat2.dtype} with scales of {scale_a.dtype} and "
            f"{scale_b.dtype} and shapes {list(sizes[0])} and {list(sizes[1])}"
        )
    if bias is not None and tuple(bias.shape) != (N,):
        raise RuntimeError(f"_scaled_mm: Bias must be size {N} but got {bias.shape[0] if bias.shape else 1}")


@_scaled_mm.rule
def _(input, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum):  # type: ignore[no-untyped-def]
    check_scaled(input, mat2, scale_a, scale_b, bias)
    return Meta((input.shape[0], mat2.shape[1]), input.dtype if out_dtype is None else out_dtype.numpy)
