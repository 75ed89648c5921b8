"""What is said of an `out=` of another dtype by operators that have words of their own for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import c_name, dtype, int64, type_name


def outs_like_input(*words: str) -> Callable[..., Any]:
    """An overload that refuses outputs without the input's dtype, in these words for each output ({given}, {wanted} fill in).

    Words that speak of indices want int64. They may have the dtypes' names of C++, too: {c_given} and {c_wanted}.
    """

    def check(input: Any, *rest: Any, out: Any = None, **options: Any) -> Any:
        outs = out if isinstance(out, (tuple, list)) else (out,)
        if isinstance(input, Tensor) and len(outs) == len(words):
            for text, given in zip(words, outs):
                require_dtype(text, given, int64 if "indices" in text else input.dtype)
        return NotImplemented

    return check


def require_dtype(text: str, out: Any, wanted: dtype) -> None:
    """RuntimeError with the text where there is an output of another dtype."""
    if isinstance(out, Tensor) and out.dtype is not wanted:
        given = out.dtype
        raise RuntimeError(
            text.format(given=type_name(given), wanted=type_name(wanted), c_given=c_name(given), c_wanted=c_name(wanted))
        )
