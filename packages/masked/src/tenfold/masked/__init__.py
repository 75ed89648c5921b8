"""Reductions of elements that count, and tensors that know which do: PyTorch's `torch.masked`.

>>> import tenfold
>>> x = tenfold.masked.masked_tensor(tenfold.tensor([1.0, 2.0, 4.0]), tenfold.tensor([True, False, True]))
>>> x.mean()
MaskedTensor(  2.5000, True)
"""

from __future__ import annotations

from tenfold.masked.maskedtensor.core import MaskedTensor as MaskedTensor, is_masked_tensor as is_masked_tensor
from tenfold.masked.maskedtensor.creation import as_masked_tensor as as_masked_tensor, masked_tensor as masked_tensor
from tenfold.masked.masks import (
    combined as _combine_input_and_mask,
    dims_of as _canonical_dim,
    input_mask as _input_mask,
    output_mask as _output_mask,
    where as _where,
)
from tenfold.masked.normalizations import (
    log_softmax as log_softmax,
    normalize as normalize,
    softmax as softmax,
    softmin as softmin,
)
from tenfold.masked.reductions import (
    amax as amax,
    amin as amin,
    argmax as argmax,
    argmin as argmin,
    cumprod as cumprod,
    cumsum as cumsum,
    logaddexp as logaddexp,
    logsumexp as logsumexp,
    mean as mean,
    median as median,
    norm as norm,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor",
    "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm", "normalize", "prod", "softmax",
    "softmin", "std", "sum", "var",
]  # fmt: skip
