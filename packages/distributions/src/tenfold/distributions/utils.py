"""What distributions and transforms share, under PyTorch's name: broadcasting, probabilities and logits, packing."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from numbers import Number
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.overrides import is_tensor_like

euler_constant = 0.57721566490153286060  # lim sum(1 / k) - log n

__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values: Any) -> Any:
    """Numbers and tensors as tensors of one shape; numbers take the dtype and device of the first tensor.

    Raises: ValueError for anything else.

    >>> from tenfold.distributions.utils import broadcast_all
    >>> broadcast_all(tenfold.zeros(2), 1.0)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    if all(is_tensor_like(v) for v in values):
        return tenfold.broadcast_tensors(*values)
    options: dict[str, Any] = {"dtype": tenfold.get_default_dtype()}
    for value in values:
        if isinstance(value, Tensor):
            options = {"dtype": value.dtype, "device": value.device}
            break
    return tenfold.broadcast_tensors(*(v if is_tensor_like(v) else tenfold.tensor(v, **options) for v in values))


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Independent normals of mean 0 and deviation 1."""
    return tenfold.normal(tenfold.zeros(shape, dtype=dtype, device=device), tenfold.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log odds: of each number, or of the classes in the last dimension.

    >>> from tenfold.distributions.utils import logits_to_probs
    >>> logits_to_probs(tenfold.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return tenfold.sigmoid(logits) if is_binary else tenfold.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept one rounding away from 0 and 1, so that their logarithms are finite."""
    eps = tenfold.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logarithms of probabilities, or log odds if `is_binary`; 0 and 1 are clamped to give finite ones.

    >>> from tenfold.distributions.utils import probs_to_logits
    >>> probs_to_logits(tenfold.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    clamped = clamp_probs(probs)
    return tenfold.log(clamped) - tenfold.log1p(-clamped) if is_binary else tenfold.log(clamped)


class lazy_property:  # noqa: N801  PyTorch's name
    """Decorator: a property computed when first asked for, with gradients enabled, and kept in the object."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]  # it is no function

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with tenfold.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):  # noqa: N801  PyTorch's name
    """What a lazy property is on the class: documentation tools look for properties."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries on and below a diagonal, row by row. Shape: (..., N, N) -> (..., entries).

    >>> from tenfold.distributions.utils import tril_matrix_to_vec
    >>> tril_matrix_to_vec(tenfold.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tenfold.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The lower triangular matrix of these entries, zero elsewhere. Shape: (..., entries) -> (..., N, N).

    Raises: ValueError if no N has that many entries.

    >>> from tenfold.distributions.utils import vec_to_tril_matrix
    >>> vec_to_tril_matrix(tenfold.tensor([1, 3, 4]))
    tensor([[1, 0],
            [3, 4]])
    """
    # N (N + 1) / 2 entries up to the main diagonal, N more for each further one
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if not round(n) - n == 0:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D "
            f"matrix."
        )
    size = round(n)
    rows, columns = tenfold.tril_indices(size, size, diag, device=vec.device)
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    matrix[..., rows, columns] = vec
    return matrix
