"""Products of tensors over pairs of dimensions, Kronecker's product, products of several matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.dispatch.spellings import as_dims
from tenfold.ops.matmul import mm
from tenfold.ops.view.shapes import of_a_copy
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor

Ints = Sequence[int]


@composite("linalg", method=None, out="same")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum of products over pairs of dimensions: the last `dims` of a with the first of b, or two lists of them.

    >>> import tenfold
    >>> tenfold.tensordot(tenfold.ones(2, 3), tenfold.ones(3, 4), 1).shape
    tenfold.Size([2, 4])
    """
    left, right = _paired_dims(a, b, dims)
    for i, j in zip(left, right):
        if b.shape[j] == 1:  # of size 1, too, so that a graph keeps a tensor of its own, as PyTorch's
            a = a.sum(i, True).to(a.dtype)
        elif a.shape[i] == 1:
            b = b.sum(j, True).to(b.dtype)
        elif a.shape[i] != b.shape[j]:
            raise RuntimeError(
                f"tensordot: contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and second "
                f"has size {b.shape[j]} in dim {j}"
            )
    kept_a = [i for i in range(a.dim()) if i not in left]
    kept_b = [j for j in range(b.dim()) if j not in right]
    K = prod(a.shape[i] for i in left)
    rows = a.permute([*kept_a, *left]).reshape(prod(a.shape[i] for i in kept_a), K)
    columns = b.permute([*right, *kept_b]).reshape(K, prod(b.shape[j] for j in kept_b))
    return mm(rows, columns).reshape([a.shape[i] for i in kept_a] + [b.shape[j] for j in kept_b])


def _paired_dims(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, (int, np.integer)):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(a.dim() - dims, a.dim())), list(range(dims))
    first, second = ([d] if isinstance(d, int) else d for d in (as_dims(d, "tensordot", "dims") for d in dims))
    if len(first) != len(second):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got {first} and {second}")
    return [wrap_dim(d, a.dim(), "tensordot") for d in first], [wrap_dim(d, b.dim(), "tensordot") for d in second]


@composite("linalg", out="converted")
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: every element of input times the whole of other, as blocks.

    >>> import tenfold
    >>> tenfold.kron(tenfold.tensor([1, 10]), tenfold.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
    """
    n = max(input.dim(), other.dim())
    left = [1] * (n - input.dim()) + list(input.shape)
    right = [1] * (n - other.dim()) + list(other.shape)
    a = input.reshape([size for l in left for size in (l, 1)])
    b = other.reshape([size for r in right for size in (1, r)])
    return of_a_copy((a * b).reshape([l * r for l, r in zip(left, right)]))


@composite("linalg", method=None, out="same")
def chain_matmul(matrices: Ints = ()) -> Tensor:
    """Product of several matrices, in the order that needs the fewest multiplications.

    Source: T. Cormen et al., Introduction to Algorithms, matrix-chain multiplication.

    >>> import tenfold
    >>> tenfold.chain_matmul(tenfold.ones(1, 2), tenfold.ones(2, 3), tenfold.ones(3, 1))
    tensor([[6.]])
    """
    given: Any = matrices
    chain = [given] if isinstance(given, Tensor) else list(given)
    if not chain:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    if any(m.dim() != 2 for m in chain):
        dims = next(m.dim() for m in chain if m.dim() != 2)
        raise RuntimeError(f"chain_matmul(): Tensor dimension is {dims}, expected 2 instead.")
    warn_once(
        "chain_matmul",
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead: "
        "it takes one list.",
    )
    return chain_product(chain)


def chain_product(chain: list[Any]) -> Any:
    """The product of matrices in the order that needs the fewest multiplications."""
    sizes = [m.shape[0] for m in chain] + [chain[-1].shape[1]]
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(chain))}
    for length in range(1, len(chain)):
        for i in range(len(chain) - length):
            j = i + length
            costs = [(best[i, k][0] + best[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            best[i, j] = min(costs)

    def multiply(i: int, j: int) -> Any:
        return chain[i] if i == j else mm(multiply(i, best[i, j][1]), multiply(best[i, j][1] + 1, j))

    return multiply(0, len(chain) - 1)
