"""`torch._VF`: the functions of operators, by which layers of programs' own call `_VF.lstm` and `_VF.gru_cell`."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.as_torch.stand_ins._C import _VariableFunctions


def unique_dim(
    input: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The different slices of a dimension, which of them each slice is, and how often each is there.

    >>> unique_dim(tenfold.tensor([[1, 2], [1, 2], [0, 1]]), 0)[0]
    tensor([[0, 1],
            [1, 2]])
    """
    values, inverse, counts = tenfold.unique(input, sorted, True, True, dim)
    return values, inverse, counts


def __getattr__(name: str) -> Any:
    return getattr(_VariableFunctions, name)


def __dir__() -> list[str]:
    return dir(_VariableFunctions)
