"""Gradients of images whose weights are not all finite, which are left to the kernel beneath: a pixel that a tap does not reach
has nothing of it, but the programs multiply weights by the zeros that stand there."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from typing import Any

import numpy as np

from tenfold.llvm.storage import BFLOAT16

Array = np.ndarray[Any, Any]
EXPONENT = 0x7F80  # the bits of a bfloat16 that are all set in infinities and NaN


def finite(x: Array) -> bool:
    """Whether all elements are finite; floats whose squares leave the range count as if they were not."""
    elements = x.ravel("K")
    if x.dtype == BFLOAT16.dtype:
        return int((elements.view(np.uint16) & EXPONENT).max(initial=0)) < EXPONENT
    return isfinite(np.dot(elements, elements))


def heeding(serve: Callable[..., Any], back: bool) -> Callable[..., Any]:
    """A function of convolutions whose calls with `transposed` equal to `back` spread an image's pixels, and are looked at."""

    def run(first: Any, weight: Any, third: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *rest: Any) -> Any:
        made = serve(first, weight, third, stride, padding, dilation, transposed, *rest)
        if transposed is not back or made is NotImplemented or (prod(weight.shape[2:]) == 1 and not any(padding)):
            return made
        smaller = made if made.size < weight.size else weight
        return made if finite(smaller) or (smaller is made and finite(weight)) else NotImplemented

    return run
