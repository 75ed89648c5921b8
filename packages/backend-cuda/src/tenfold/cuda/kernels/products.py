"""PyTorch's private products: with an activation (`_addmm_activation`), and of 8-bit numbers with scales (`_scaled_mm`)."""

from __future__ import annotations

from typing import Any

from tenfold.cuda import cublaslt, products, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.cublaslt import BIAS, EIGHT_BITS, GELU_BIAS, IN_ANY, PLAIN, RELU_BIAS, SCALAR_SCALE, TYPES, VECTOR_SCALE, Matrix
from tenfold.cuda.kernels.eight_bits import is_eight
from tenfold.cuda.kernels.matmul import added
from tenfold.dispatch.operators import op

OLDEST = 89  # compute capability that multiplies 8-bit numbers
STEP = 16  # what sizes and addresses are multiples of
OF_EIGHT = ("bfloat16", "float16", "float32", *EIGHT_BITS)  # dtypes of a result


@kernel(op._addmm_activation, device="cuda", over=(op.mm, op.addmm))
def _addmm_activation(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, use_gelu: bool) -> Any:
    if mat1.ndim != 2 or mat2.ndim != 2 or input.ndim > 2:
        return NotImplemented
    return added(input, mat1, mat2, beta, alpha, GELU_BIAS if use_gelu else RELU_BIAS)


@kernel(op._scaled_mm, device="cuda")
def _scaled_mm(
    input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any, scale_result: Any, out_dtype: Any, use_fast_accum: bool
) -> Any:
    out = input.dtype if out_dtype is None else out_dtype.numpy
    op._scaled_mm.shape_rule(input, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    library, now = cublaslt.library(), runtime.current()
    if library is None:
        return NotImplemented
    if products.capability(now) < OLDEST:
        raise RuntimeError(
            f"_scaled_mm: products of 8-bit numbers need a GPU of compute capability 8.9 or more, this one's is "
            f"{products.capability(now) / 10}; convert with .to(tenfold.bfloat16)"
        )
    _check(input, mat2, bias, out)
    found = _product(now, library, input, mat2, (scale_a, scale_b), bias, out, bool(use_fast_accum))
    if found is None:
        more = "" if scale_a.size == 1 else "; scales of rows it has from CUDA 12.9 on, on GPUs of compute capability 9.0"
        raise RuntimeError(
            f"_scaled_mm: cuBLASLt has no product of {input.dtype} {list(input.shape)} and {mat2.dtype} {list(mat2.shape)} "
            f"to {out}{more}"
        )
    return found


def _check(a: Any, b: Any, bias: Any, out: Any) -> None:
    (_, K), N = a.shape, b.shape[1]
    if K % STEP or N % STEP:
        raise RuntimeError(f"_scaled_mm: Expected trailing dimension of mat1 and both of mat2 to be divisible by 16, got {K}x{N}")
    if a.strides[1] != 1 or b.strides[0] != 1 or a.strides[0] < K or b.strides[1] < K:
        raise RuntimeError("_scaled_mm: mat_a must lie row by row and mat_b column by column, as its .t() does")
    if a.dtype == b.dtype and a.dtype.name == "float8_e5m2":
        raise RuntimeError("_scaled_mm: Multiplication of two Float8_e5m2 matrices is not supported")
    if out.name not in OF_EIGHT:
        raise RuntimeError(f"_scaled_mm: out_dtype is one of {', '.join(OF_EIGHT)}, got {out.name}")
    if bias is not None and bias.dtype.name not in ("bfloat16", "float16"):
        raise RuntimeError(f"_scaled_mm: Bias is bfloat16 or float16, got {bias.dtype.name}")
    if bias is not None and out.name == "float32":
        raise RuntimeError("_scaled_mm: Bias is not supported when out_dtype is set to Float32")


def _number(dtype: Any) -> int:
    return EIGHT_BITS[dtype.name] if is_eight(dtype) else TYPES[dtype.name][0]


def _dense(x: Any) -> Any:
    return x if x.flags.c_contiguous else products._in_one_piece(x)


def _product(now: Any, library: Any, a: Any, b: Any, scales: tuple[Any, Any], bias: Any, dtype: Any, fast: bool) -> Any:
    """The product; None where cuBLASLt has none. The library's A is b, transposed: its first scale is b's, too."""
    if not a.size or not b.size:
        return None
    (M, K), N, pointer = a.shape, b.shape[1], now.pointer
    index = now.index_of(a)
    rows = scales[0].size > 1 or scales[1].size > 1
    scales = _dense(scales[0]), _dense(scales[1])
    addresses = {"scale_a": pointer(scales[1]), "scale_b": pointer(scales[0])}
    attributes = {
        "transposed_a": 1, "fast_sum": int(fast), "epilogue": PLAIN if bias is None else BIAS,
        "scale_mode_a": VECTOR_SCALE if rows else SCALAR_SCALE, "scale_mode_b": VECTOR_SCALE if rows else SCALAR_SCALE,
    }  # fmt: skip
    if bias is not None:
        bias = _dense(bias)
        addresses["bias"], attributes["bias_type"] = pointer(bias), TYPES[bias.dtype.name][0]
    alignment = pointer(a) | pointer(b) | 256
    key = (
        "scaled",
        a.shape,
        a.strides,
        b.strides,
        N,
        a.dtype,
        b.dtype,
        dtype,
        *attributes.values(),
        alignment & -alignment,
        index,
    )
    plan = library.plans.get(key)
    if plan is None:
        plan = products.Plan(library, (M, N))
        plan.one, plan.zero = products._number(1, "f4"), products._number(0, "f4")
        added_type = bias.dtype if bias is not None and is_eight(dtype) else dtype
        matrices = [
            Matrix(_number(b.dtype), K, N, b.strides[1], 1, 0), Matrix(_number(a.dtype), K, M, a.strides[0], 1, 0),
            Matrix(_number(added_type), N, M, N, 1, 0), Matrix(_number(dtype), N, M, N, 1, 0),
        ]  # fmt: skip
        products.describe(plan, (cublaslt.COMPUTE_32F, IN_ANY, 0), matrices, attributes, addresses, alignment & -alignment, index)
        products._remembered(key, plan)
    if plan.refused:
        return None
    out = now.empty((M, N), dtype, index)
    at = pointer(out)
    given = (plan.one[0], pointer(b), pointer(a), plan.zero[0], at, at)
    return out if products.started(plan, index, given, addresses) else None
