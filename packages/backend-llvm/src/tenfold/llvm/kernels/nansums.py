"""Sums of what is a number: of tenfold-scientific's operator, whose body makes a copy without NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.reduction import LEAST, reduce

Array = np.ndarray[Any, Any]


def nansum(input: Array, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """The sum of the elements that are not NaN, in their own dtype; of the layouts for which sums are compiled, too."""
    if dtype is not None or not (input.flags.c_contiguous or input.size >= LEAST):
        return NotImplemented
    return reduce("total of numbers", input, None if dim == () else dim, keepdim)


chosen("nansum", nansum, 4, "floats in one piece")
