"""The tensor with a mask: PyTorch's `torch.masked.maskedtensor`."""

from __future__ import annotations

from tenfold.masked.maskedtensor import (
    binary as binary,
    passthrough as passthrough,
    reductions as reductions,
    unary as unary,
)
from tenfold.masked.maskedtensor.core import MaskedTensor as MaskedTensor, is_masked_tensor as is_masked_tensor
from tenfold.masked.maskedtensor.creation import as_masked_tensor as as_masked_tensor, masked_tensor as masked_tensor
