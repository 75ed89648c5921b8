"""`torch._higher_order_ops.foreach_map`: a function over lists of tensors, which compilers make one kernel of."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

__all__ = ["foreach_map"]


def foreach_map(op: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """The function's results for the first items of all lists, for the second ones and so on, up to the shortest list's end.

    What is neither list nor tuple is given to every call; without any list there is one call, whose result is returned.

    >>> import tenfold
    >>> foreach_map(tenfold.add, [tenfold.ones(1), tenfold.zeros(1)], 2)
    [tensor([3.]), tensor([2.])]
    """
    listed = [isinstance(operand, (list, tuple)) for operand in operands]
    if not any(listed):
        return op(*operands, **kwargs)
    columns = [each if several else itertools.repeat(each) for each, several in zip(operands, listed, strict=True)]
    return [op(*given, **kwargs) for given in zip(*columns, strict=False)]
