"""Reductions over the elements that are there; a result is there where one of its elements is."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.masked import normalizations, reductions
from tenfold.masked.maskedtensor.core import TABLE, MaskedTensor, knows
from tenfold.masked.masks import any_along, dims_of

REDUCE_NAMES = ["sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std"]


def _made(input: Any, result: Any, dim: Any, keepdim: bool) -> MaskedTensor:
    return MaskedTensor.of(result, any_along(input.get_mask(), dims_of(dim, input.ndim), bool(keepdim)))


def _run(name: str) -> Any:
    def run(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **kwargs: Any) -> MaskedTensor:
        result = getattr(reductions, name)(input, dim, keepdim=keepdim, dtype=dtype, **kwargs)
        return _made(input, result, dim, keepdim)

    return run


for _name in ("sum", "mean", "prod", "amin", "amax", "argmin", "argmax"):
    TABLE[_name] = _run(_name)


@knows("all")
def all(input: Any, dim: Any = None, keepdim: bool = False) -> MaskedTensor:
    """Whether all elements that are there are true."""
    x = input.get_data().to_dense().to(tenfold.bool) | ~input.get_mask().to_dense()
    return _made(input, x.all() if dim is None else x.all(dim, keepdim), dim, keepdim)


def _moment(name: str) -> Any:
    def run(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> MaskedTensor:
        if isinstance(dim, bool):  # the older form: var(unbiased)
            dim, unbiased = None, dim
        result = getattr(reductions, name)(input, dim, unbiased, correction=correction, keepdim=keepdim)
        return _made(input, result, dim, keepdim)

    return run


TABLE["var"], TABLE["std"] = _moment("var"), _moment("std")


@knows("norm")
def norm(input: Any, p: Any = 2.0, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> MaskedTensor:
    """The norm of the elements that are there."""
    result = reductions.norm(input, 2.0 if p in (None, "fro") else p, dim, keepdim=keepdim, dtype=dtype)
    return _made(input, result, dim, keepdim)


def _linewise(name: str) -> Any:
    def run(input: Any, dim: int, dtype: Any = None) -> MaskedTensor:
        return MaskedTensor.of(getattr(normalizations, name)(input, dim, dtype=dtype), input.get_mask())

    return run


TABLE["softmax"], TABLE["log_softmax"] = _linewise("softmax"), _linewise("log_softmax")
