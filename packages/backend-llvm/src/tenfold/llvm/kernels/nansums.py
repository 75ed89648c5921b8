"""Sums of what is a number: of tenfold-scientific's operator, whose body makes a copy without NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.reduction import reduce

Array = np.ndarray[Any, Any]


def nansum(input: Array, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """The sum of the elements that are not NaN, in their own dtype."""
    return reduce("total of numbers", input, None if dim == () else dim, keepdim) if dtype is None else NotImplemented


chosen("nansum", nansum, 4, "floats in one piece")
