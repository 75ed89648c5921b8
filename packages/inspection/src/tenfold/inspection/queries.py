"""Rarer questions about tensors as functions, the dtype that two of them give, and the names of their types."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.tensor.queries import asks
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import dtype
from tenfold.types.promotion import of_values


@asks
def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is still to be done: never here."""
    return input.is_conj()


@asks
def is_neg(input: Tensor) -> bool:
    """Whether a negation is still to be done: never here."""
    return input.is_neg()


@asks
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.is_signed()


@asks
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.is_same_size(other)


@partial(asks, accepted=(Tensor, int, float, complex, np.generic))
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype that arithmetic on the two tensors or numbers gives.

    >>> result_type(Tensor([1, 2]).long(), 1.0)
    tenfold.float32
    """
    return of_values((tensor1, tensor2))


@asks
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero; RuntimeError for a tensor of several or none."""
    return bool(input)


@asks
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, Storage)


def typename(obj: Any) -> str:
    """The full name of an object's type, a tensor's legacy one in PyTorch.

    >>> typename(Tensor([1.0])), typename("text")
    ('torch.FloatTensor', 'str')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None) or ""
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"
