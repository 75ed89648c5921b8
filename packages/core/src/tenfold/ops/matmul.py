"""Matrix and vector products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.tensor.tensor import Tensor
from tenfold.types.numbers import factor, require_fit

Ints = Sequence[int]


def blended(factors: str) -> tuple[str, ...]:
    """The deprecated orders of `beta * input + alpha * (a product of two)`, as functions and as methods."""
    orders = ("beta input {}", "beta input alpha {}", "input beta {}", "input beta alpha {}")
    return tuple(order.format(factors) for order in orders)


_NUMBERS = Only(
    "integer floating complex", words="\"{name}\" not implemented for 'Bool': got bool tensors, convert with .float() or .int()"
)


@primitive("matmul", accepts=_NUMBERS, promote="same", out="same", aliases=("spmm",))
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Matrix product. Shape: (M, K), (K, N) -> (M, N).

    >>> import tenfold
    >>> tenfold.mm(tenfold.ones(2, 3), tenfold.ones(3, 1))
    tensor([[3.],
            [3.]])
    """


@mm.rule
def _(input: Any, mat2: Any) -> Meta:
    if len(input.shape) != 2:
        raise RuntimeError(f"mm: self must be a matrix, got shape {list(input.shape)}")
    if len(mat2.shape) != 2:
        raise RuntimeError(f"mm: mat2 must be a matrix, got shape {list(mat2.shape)}")
    (M, K), (K2, N) = input.shape, mat2.shape
    if K != K2:
        raise RuntimeError(f"mm: mat1 and mat2 shapes cannot be multiplied ({M}x{K} and {K2}x{N})")
    return Meta((M, N), input.dtype)


@composite("matmul", method=None, out=True)
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Alias of `mm`, which PyTorch also has for sparse matrices.

    >>> import tenfold
    >>> tenfold.spmm(tenfold.ones(1, 2), tenfold.ones(2, 1))
    tensor([[2.]])
    """
    return mm(input, mat2)


@primitive("matmul", accepts=_NUMBERS, promote="same", out="same")
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Batch of matrix products. Shape: (B, M, K), (B, K, N) -> (B, M, N).

    >>> import tenfold
    >>> tenfold.bmm(tenfold.ones(2, 1, 3), tenfold.ones(2, 3, 1)).shape
    tenfold.Size([2, 1, 1])
    """


@bmm.rule
def _(input: Any, mat2: Any) -> Meta:
    if len(input.shape) != 3 or len(mat2.shape) != 3:
        raise RuntimeError(f"bmm: batch1 and batch2 must be 3D tensors, got {list(input.shape)} and {list(mat2.shape)}")
    B, M, K = input.shape
    if tuple(mat2.shape[:2]) != (B, K):
        raise RuntimeError(
            f"bmm: Expected size for first two dimensions of batch2 tensor to be: [{B}, {K}] but got: {list(mat2.shape[:2])}."
        )
    return Meta((B, M, mat2.shape[2]), input.dtype)


@composite("matmul", promote="same", out="same")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Matrix product of tensors of any dimension: the last two are matrices, those before broadcast.

    Shape: (K), (K) -> (); (M, K), (K) -> (M); (..., M, K), (..., K, N) -> (..., M, N).

    >>> import tenfold
    >>> tenfold.matmul(tenfold.ones(2, 3), tenfold.ones(3))
    tensor([3., 3.])
    """
    n, m = input.dim(), other.dim()
    if n == 2 and m == 2:
        return mm(input, other)
    if n == 0 or m == 0:
        raise RuntimeError(f"matmul: both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if input.shape[-1] != other.shape[-2 if m > 1 else 0]:
        raise RuntimeError(f"matmul: mat1 and mat2 shapes cannot be multiplied ({list(input.shape)} and {list(other.shape)})")
    if n == 1:
        return matmul(input.unsqueeze(0), other).squeeze(-2 if m > 1 else 0)
    if m == 1:
        return matmul(input, other.unsqueeze(1)).squeeze(-1)
    if m == 2:  # fold the batch into the rows: one product
        rows = input.reshape(prod(input.shape[:-1]), input.shape[-1])
        return mm(rows, other).view(*input.shape[:-1], other.shape[-1])
    batch = broadcast_shapes("matmul", [input.shape[:-2], other.shape[:-2]])
    a = input.expand(*batch, *input.shape[-2:]).reshape(prod(batch), *input.shape[-2:])
    b = other.expand(*batch, *other.shape[-2:]).reshape(prod(batch), *other.shape[-2:])
    return bmm(a, b).view(*batch, input.shape[-2], other.shape[-1])


def _check_vectors(name: str, input: Tensor, other: Tensor) -> None:
    if input.dim() != 1 or other.dim() != 1:
        raise RuntimeError(f"{name}: 1D tensors expected, but got {input.dim()}D and {other.dim()}D tensors")
    if input.shape != other.shape:
        raise RuntimeError(
            f"{name}: inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{other.shape[0]}] to have the "
            f"same number of elements"
        )


@composite("matmul", accepts=_NUMBERS, promote="same", out="same")
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Inner product of two vectors, without conjugation.

    >>> import tenfold
    >>> tenfold.dot(tenfold.tensor([1.0, 2.0]), tenfold.tensor([3.0, 4.0]))
    tensor(11.)
    """
    _check_vectors("dot", input, tensor)
    return (input * tensor).sum().to(input.dtype)


@composite("matmul", promote="same", out="same")
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Inner product of two vectors, the first conjugated.

    >>> import tenfold
    >>> tenfold.vdot(tenfold.tensor([1.0, 2.0]), tenfold.tensor([3.0, 4.0]))
    tensor(11.)
    """
    _check_vectors("vdot", input, other)
    return dot(input.conj() if input.dtype.is_complex else input, other)


@composite("matmul", promote="same", out="same")
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix and a vector. Shape: (M, K), (K) -> (M).

    >>> import tenfold
    >>> tenfold.mv(tenfold.ones(2, 3), tenfold.ones(3))
    tensor([3., 3.])
    """
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(f"mv: vector + matrix @ vector expected, got {input.dim()}D, {vec.dim()}D")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"mv: size mismatch, got input ({input.shape[0]}x{input.shape[1]}), vec ({vec.shape[0]})")
    return matmul(input, vec)


@composite("matmul", out=True)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Outer product of two vectors. Shape: (M), (N) -> (M, N).

    >>> import tenfold
    >>> tenfold.outer(tenfold.tensor([1, 2]), tenfold.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D")
    return input.unsqueeze(1) * vec2


@composite("matmul", out=True)
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Alias of `outer`.

    >>> import tenfold
    >>> tenfold.ger(tenfold.tensor([1, 2]), tenfold.tensor([3])).shape
    tenfold.Size([2, 1])
    """
    return outer(input, vec2)


# Products that are added to something


def blend(name: str, input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * product, where a zero beta ignores even NaN in the input."""
    beta, alpha = (factor(number, product.dtype) for number in (beta, alpha))
    shape = broadcast_shapes(name, [input.shape, product.shape])
    if shape != tuple(product.shape):
        raise RuntimeError(
            f"{name}: The expanded size of input {list(input.shape)} must match the product's {list(product.shape)}"
        )
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product if input._node is None else product + input.masked_fill(input.isnan() | True, 0)  # its gradient is 0
    return product + (input if beta == 1 else input * beta)


@composite("matmul", promote="same", out="same", inplace=True, old=blended("mat1 mat2"))
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """Matrix product added to a tensor that broadcasts: beta * input + alpha * mat1 @ mat2.

    >>> import tenfold
    >>> tenfold.addmm(tenfold.ones(1), tenfold.ones(1, 2), tenfold.ones(2, 1))
    tensor([[3.]])
    """
    return blend("addmm", input, mm(mat1, mat2), beta, alpha)


@composite("matmul", promote="same", out="same", inplace=True, rounded_once=True, old=blended("mat vec"))
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """Matrix-vector product added to a tensor: beta * input + alpha * mat @ vec.

    >>> import tenfold
    >>> tenfold.addmv(tenfold.ones(1), tenfold.ones(1, 2), tenfold.ones(2))
    tensor([3.])
    """
    return blend("addmv", input, mv(mat, vec), beta, alpha)


def check_factors(dtype: Any, factors: dict[str, Any]) -> None:
    """Refuse factors that a result of this dtype cannot take up."""
    for name, number in factors.items():
        if isinstance(number, bool):
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if dtype.category < 2 and not isinstance(number, int):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        require_fit(number, dtype)


@composite("matmul", promote="same", out="same", inplace=True, rounded_once=True, old=blended("batch1 batch2"))
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """Batch of matrix products added to a tensor: beta * input + alpha * batch1 @ batch2.

    >>> import tenfold
    >>> tenfold.baddbmm(tenfold.ones(1), tenfold.ones(1, 1, 2), tenfold.ones(1, 2, 1))
    tensor([[[3.]]])
    """
    return blend("baddbmm", input, bmm(batch1, batch2), beta, alpha)
