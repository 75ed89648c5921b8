"""Powers and chains of matrices, their exponential, tensors as matrices; rarer products."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.ops.matmul import blend, blended, bmm, check_factors, mm, outer
from tenfold.scientific.ops.linalg.checks import numbers, raise_if_failed, require_square
from tenfold.scientific.ops.linalg.contractions import chain_product
from tenfold.scientific.ops.outs import require_dtype
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.promotion import promote_types


@composite("linalg", method=None, out=True)
def linalg_matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th power of a square matrix by repeated squaring; of its inverse for n < 0. Shape: (..., N, N) -> (..., N, N).

    >>> import tenfold
    >>> tenfold.linalg.matrix_power(tenfold.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, got shape {list(A.shape)}")
    if n == 0:
        # Filling keeps A in the graph, with a gradient of zero.
        return op.fill(A, 0) + op.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    base = op.linalg_inv(A) if n < 0 else A
    result, n = None, abs(n)
    while n:
        if n & 1:
            result = base if result is None else result.matmul(base)
        n >>= 1
        if n:
            base = base.matmul(base)
    return result.clone() if result is A else result  # type: ignore[return-value]


@composite("linalg", out="same")
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Alias of `linalg.matrix_power`.

    >>> import tenfold
    >>> tenfold.matrix_power(tenfold.tensor([[2.0]]), 3)
    tensor([[8.]])
    """
    return linalg_matrix_power(input, n)


@composite("linalg", method=None, out="same")
def linalg_multi_dot(tensors: Any) -> Tensor:
    """Product of two or more matrices in the order that needs the fewest multiplications; the ends may be vectors.

    Source: T. Cormen et al., Introduction to Algorithms, matrix-chain multiplication.

    >>> import tenfold
    >>> tenfold.linalg.multi_dot([tenfold.ones(2), tenfold.ones(2, 3), tenfold.ones(3)])
    tensor(6.)
    """
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"linalg.multi_dot: expected at least 2 tensors but got {len(chain)}")
    for which, end in (("first", chain[0]), ("last", chain[-1])):
        if not 1 <= end.dim() <= 2:
            raise RuntimeError(f"linalg.multi_dot: multi_dot(): the {which} tensor must be 1D or 2D but got {end.dim()}D")
    for i, t in enumerate(chain[1:-1], 1):
        if t.dim() != 2:
            raise RuntimeError(f"linalg.multi_dot: multi_dot(): tensor {i} must be 2D but got {t.dim()}D")
    if any(t.dtype is not chain[0].dtype for t in chain):
        raise RuntimeError(f"linalg.multi_dot: all tensors must have be the same dtype, got {[t.dtype.name for t in chain]}")
    left, right = chain[0].dim() == 1, chain[-1].dim() == 1
    chain[0] = chain[0].unsqueeze(0) if left else chain[0]
    chain[-1] = chain[-1].unsqueeze(-1) if right else chain[-1]
    for a, b in pairwise(chain):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"linalg.multi_dot: tensors cannot be multiplied, got {list(a.shape)} and {list(b.shape)}")
    result = chain_product(chain)
    result = result.squeeze(-1) if right else result
    return result.squeeze(0) if left else result


@linalg_multi_dot.overload
def _(tensors: Any, *, out: Any = None) -> Any:
    """Refuses an output of another dtype, in PyTorch's words."""
    if tensors and isinstance(tensors[0], Tensor):
        require_dtype("multi_dot(): expected out tensor to have dtype {c_wanted} but got {c_given}", out, tensors[0].dtype)
    return NotImplemented


@composite("linalg", method=None)
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal of the last two dimensions (or the given ones), a view.

    >>> import tenfold
    >>> tenfold.linalg.diagonal(tenfold.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return A.diagonal(offset, dim1, dim2)


@composite("linalg", method=None)
def linalg_vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers 0 to N - 1 of the last dimension's elements, as rows. Shape: (..., M) -> (..., M, N).

    >>> import tenfold
    >>> tenfold.linalg.vander(tenfold.tensor([1, 2]), 3)
    tensor([[1, 1, 1],
            [1, 2, 4]])
    """
    x = x.unsqueeze(0) if x.dim() == 0 else x
    if x.dtype is dtypes.BY_NAME["bool"]:
        raise RuntimeError("linalg.vander: bool tensors have no powers; convert with .int()")
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {count}")
    x = x.to(dtypes.int64) if x.dtype.category < 2 else x
    column = x.unsqueeze(-1)
    repeated = column.expand(*x.shape, count - 1)
    return op.cat([op.ones_like(column), repeated], -1).cumprod(-1)


@composite("linalg", method=None, out=True)
def linalg_tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse under `tensordot`: A's first `ind` dimensions as rows, the others as columns.

    >>> import tenfold
    >>> tenfold.linalg.tensorinv(tenfold.eye(4).reshape(2, 2, 4)).shape
    tenfold.Size([4, 2, 2])
    """
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv: Expected a strictly positive integer for 'ind', got {ind}")
    first, last = A.shape[:ind], A.shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            f"linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {prod(last)} != {prod(first)}"
        )
    inverse, info = op.linalg_inv_ex(A.reshape(prod(first), prod(last)))
    return _checked(inverse, info, "linalg.tensorinv").reshape([*last, *first])


def _checked(result: Any, info: Any, name: str) -> Any:
    raise_if_failed(
        name, info, lambda i: f"Failed to invert the input tensor: The diagonal element {i} is zero, so that it is singular."
    )
    return result


@composite("linalg", method=None, out=True)
def linalg_tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with tensordot(A, X, X.dim()) = B, after moving the dimensions `dims` of A to the end.

    >>> import tenfold
    >>> tenfold.linalg.tensorsolve(tenfold.eye(4).reshape(2, 2, 4), tenfold.ones(2, 2))
    tensor([1., 1., 1., 1.])
    """
    if dims is not None:
        A = A.movedim(list(dims), list(range(A.dim() - len(dims), A.dim())))
    rest = A.shape[B.dim() :]
    if prod(rest) != prod(A.shape[: B.dim()]) or prod(rest) != B.numel():
        raise RuntimeError(
            f"linalg.tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]) == other.numel(), but got {prod(rest)}, {prod(A.shape[: B.dim()])} and {B.numel()}"
        )
    flat = A.reshape(B.numel(), prod(rest))
    return op.linalg_solve(flat, B.reshape(-1)).reshape(rest)


# Pade approximant of degree 13 and the norm up to which it is exact to double precision.
_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_REACH = 5.371920351148152


@composite("linalg", method="matrix_exp", aliases=("matrix_exp",), spellings={"input": "A"})
def linalg_matrix_exp(A: Tensor) -> Tensor:
    """Matrix exponential, the sum of A^k / k!. Shape: (..., N, N) -> (..., N, N).

    Source: N. Higham, The Scaling and Squaring Method for the Matrix Exponential Revisited, SIAM 2005, algorithm 2.3.

    >>> import tenfold
    >>> tenfold.linalg.matrix_exp(tenfold.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    require_square("linalg.matrix_exp", A)
    if A.numel() == 0:
        return A.clone()
    if A.dtype.itemsize == (8 if A.dtype.is_complex else 4):  # the approximant's terms cancel: single precision is not enough
        return linalg_matrix_exp(A.to(dtypes.complex128 if A.dtype.is_complex else dtypes.float64)).to(A.dtype)
    size = op.linalg_matrix_norm(A.detach(), 1)
    halvings = (size / _REACH).log2().ceil().clamp(0, 1000).nan_to_num(0)
    most = 0 if A.is_meta else int(numbers(halvings).max())
    x = A / (2.0**halvings).unsqueeze(-1).unsqueeze(-1)
    result = _pade(x)
    for i in range(most):
        again = (halvings > i).unsqueeze(-1).unsqueeze(-1)
        result = op.where(again, result.matmul(result), result)
    return result


def _summed(total: Any, *multiples: Any) -> Any:
    for term, factor in multiples:
        total = total.add(term, alpha=factor)
    return total


def _pade(x: Any) -> Any:
    one = op.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    scale = float(_PADE[0])
    c = [value / scale for value in _PADE]
    x2 = x.matmul(x)
    x4 = x2.matmul(x2)
    x6 = x2.matmul(x4)
    high, low = _summed(x6 * c[13], (x4, c[11]), (x2, c[9])), ((x6, c[7]), (x4, c[5]), (x2, c[3]), (one, c[1]))
    odd = x.matmul(_summed(x6.matmul(high), *low))
    high, low = _summed(x6 * c[12], (x4, c[10]), (x2, c[8])), ((x6, c[6]), (x4, c[4]), (x2, c[2]), (one, 1))
    even = _summed(x6.matmul(high), *low)
    return op.linalg_solve_ex(even - odd, even + odd)[0]


@composite("linalg", out=True, inplace=True, old=blended("vec1 vec2"))
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """Outer product added to a matrix: beta * input + (alpha * vec1) outer vec2. Half precision is rounded after every step.

    >>> import tenfold
    >>> tenfold.addr(tenfold.ones(1, 1), tenfold.ones(1), tenfold.ones(1))
    tensor([[2.]])
    """
    dtype = promote_types(promote_types(vec1.dtype, vec2.dtype), input.dtype)  # a 0-d input is a matrix, too
    input, scaled, vec2 = input.to(dtype), vec1.to(dtype), vec2.to(dtype)
    if dtype.is_half:
        check_factors(dtype, {"beta": beta, "alpha": alpha})
        alpha, beta = (op.full((), factor, dtype=dtype).item() for factor in (alpha, beta))
        scaled, alpha = scaled if alpha == 1 else scaled * alpha, 1
    product = outer(scaled, vec2)
    if dtype.category == 0:
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if not isinstance(factor, int):
                raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        product = product if alpha else op.zeros_like(product)
        return product if not beta else product.logical_or(input)
    check_factors(dtype, {"beta": beta, "alpha": alpha})
    return blend("addr", input, product, beta, alpha)


@composite("linalg", promote="same", out="same", inplace=True, rounded_once=True, old=blended("batch1 batch2"))
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """Sum of a batch of matrix products added to a matrix: beta * input + alpha * sum(batch1 @ batch2).

    >>> import tenfold
    >>> tenfold.addbmm(tenfold.ones(1), tenfold.ones(2, 1, 1), tenfold.ones(2, 1, 1))
    tensor([[3.]])
    """
    return blend("addbmm", input, bmm(batch1, batch2).sum(0).to(batch1.dtype), beta, alpha)


@composite("linalg", out="same")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Inner products over the last dimension. Shape: (..., K), (*, K) -> (..., *).

    >>> import tenfold
    >>> tenfold.inner(tenfold.ones(2, 3), tenfold.ones(3))
    tensor([3., 3.])
    """
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    first = input.sum(-1, True).to(input.dtype) if input.shape[-1] == 1 else input  # a graph keeps it, as of `tensordot`
    rows, columns = (x.reshape(prod(x.shape[:-1]), x.shape[-1]) for x in (first, other))
    return mm(rows, columns.transpose(0, 1)).reshape([*input.shape[:-1], *other.shape[:-1]])
