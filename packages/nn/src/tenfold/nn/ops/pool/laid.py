"""How the results of pools lie in memory."""

from __future__ import annotations

from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import suggested_format


def as_laid(result: Tensor, input: Tensor, n: int) -> Tensor:
    """The result in PyTorch's memory format: of volumes row by row, of sequences as those of images of height 1."""
    if n == 2 or input.is_contiguous():
        return result
    if n == 1 and input.dim() == 3:
        found = suggested_format(input.unsqueeze(2)._array)
        return result.unsqueeze(2).contiguous(memory_format=found).squeeze(2)
    return result.contiguous()
