"""Reading and writing parts of tensors: `x[...]`, gather, scatter, masks."""

from __future__ import annotations

from typing import Any

from tenfold.meta import Meta
from tenfold.operators import primitive
from tenfold.tensor import Tensor


@primitive("indexing", view=True, method="__getitem__")
def getitem(input: Tensor, index: Any) -> Tensor:
    """The part that an index of ints, slices, None and ... selects, as a view.

    >>> import tenfold
    >>> tenfold.arange(6).view(2, 3)[1, ::2]
    tensor([3, 5])
    """


@getitem.rule
def _(input: Any, index: Any) -> Meta:
    raise IndexError("getitem")
