"""A number by which two tensors that differ are told apart."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold.ops.indexing.joining import cat
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float64, int64, type_name, uint64


@composite("hashes", out="same", nondifferentiable="its result is a pattern of bits")
def hash_tensor(input: Tensor, dim: Any = (), keepdim: bool = False, *, mode: int = 0) -> Tensor:
    """The exclusive or of all elements' bits, as 64-bit floats or integers, over all or some dimensions. Dtype: uint64.

    `mode` 0 is the only one there is.

    >>> import tenfold
    >>> tenfold.hash_tensor(tenfold.tensor([[1, 2, 3], [4, 5, 6]]), 0)
    tensor([5, 7, 5], dtype=tenfold.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.dtype.is_complex:
        raise NotImplementedError(
            f"\"xor_sum_cpu\" not implemented for '{type_name(input.dtype)}'; hash real and imag by themselves"
        )
    if dim in ((), []) and not input.numel():
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument."
        )
    dims = wrap_dims(None if dim in ((), []) else dim, input.dim(), "hash_tensor")
    for d in dims:
        if not input.shape[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    kept = [d for d in range(input.dim()) if d not in dims]
    left = [input.shape[d] for d in kept]
    bits = input.to(float64).view(int64) if input.is_floating_point() else input.to(int64)
    bits = bits.permute([*kept, *dims]).reshape([*left, prod(input.shape[d] for d in dims)])
    while (count := bits.shape[-1]) > 1:
        half = count // 2
        folded = bits.narrow(-1, 0, half).bitwise_xor(bits.narrow(-1, half, half))
        bits = cat([folded, bits.narrow(-1, count - 1, 1)], -1) if count % 2 else folded
    result = bits.squeeze(-1).view(uint64)
    return result.reshape([1 if d in dims else n for d, n in enumerate(input.shape)]) if keepdim else result
