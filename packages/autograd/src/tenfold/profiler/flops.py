"""How many floating-point operations a call takes: products, convolutions, attention, sums and products of elements.

A multiplication and an addition count as two. Operators of other kinds count as none, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any


def _product(result: Any, input: Any, other: Any, *rest: Any) -> int:
    return 2 * int(result.numel()) * int(input.shape[-1])


def _added_product(result: Any, input: Any, first: Any, *rest: Any) -> int:
    return 2 * int(result.numel()) * int(first.shape[-1])


def _convolution(result: Any, input: Any, weight: Any, *rest: Any) -> int:
    return 2 * int(result.numel()) * prod(int(n) for n in weight.shape[1:])


def _transposed(result: Any, input: Any, weight: Any, *rest: Any) -> int:
    return 2 * int(input.numel()) * prod(int(n) for n in weight.shape[1:])


def _attention(result: Any, query: Any, key: Any, value: Any, *rest: Any) -> int:
    *batch, length, width = query.shape
    return 2 * prod(int(n) for n in batch) * int(length) * int(key.shape[-2]) * int(width + value.shape[-1])


def _elements(result: Any, *rest: Any) -> int:
    return int(result.numel())


COUNTED: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("mm", "matmul", "bmm", "mv", "dot", "linear"), _product),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), _added_product),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolution),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed),
    **dict.fromkeys(("add", "mul"), _elements),
    "scaled_dot_product_attention": _attention,
}


def flops(name: str, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The operations of a call, 0 where none are counted.

    >>> import tenfold
    >>> a, b = tenfold.ones(2, 3), tenfold.ones(3, 4)
    >>> flops("mm", a @ b, (a, b), {})
    48
    """
    count = COUNTED.get(name.removesuffix("_"))
    given = (*args, *kwargs.values())
    return count(result, *given) if count is not None and hasattr(result, "numel") else 0


__all__ = ["COUNTED", "flops"]
