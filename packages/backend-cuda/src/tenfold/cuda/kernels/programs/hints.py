"""What the compiler is told of numbers, so that loads of 16 bytes come of it and not of single elements."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
from triton import language as tl  # noqa: F401 - the interpreter looks for it


@triton.jit
def sixteens(number):
    """The number, as a multiple of 16: what `multiple_of` says of an argument of the kernel is lost, arithmetic is not."""
    return number // 16 * 16
