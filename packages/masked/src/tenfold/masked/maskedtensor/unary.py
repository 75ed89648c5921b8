"""Operators of one tensor that leave the mask as it is."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.masked.maskedtensor.core import TABLE, MaskedTensor

UNARY_NAMES = (
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil clamp "
    "clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit "
    "i0 isnan nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt "
    "square tan tanh trunc"
).split()
INPLACE_UNARY_NAMES = [name + "_" for name in UNARY_NAMES if name not in ("angle", "isnan", "positive", "signbit")]
CONVERSIONS = "to float double half bfloat16 int long short char byte bool cpu cuda type_as"
OTHERS = "clone detach alias real ones_like"


def values_of(x: Any) -> Any:
    """The elements that an operator of single elements has to look at."""
    layout = x.layout
    return x if layout is tenfold.strided else x.coalesce().values() if layout is tenfold.sparse_coo else x.values()


def with_values(x: Any, values: Any) -> Any:
    """The tensor with other elements at the same places."""
    if x.layout is tenfold.strided:
        return values
    if x.layout is tenfold.sparse_coo:
        return tenfold.sparse_coo_tensor(x.coalesce().indices(), values, tuple(x.shape), is_coalesced=True)
    sparse: Any = tenfold.sparse  # where a tensor of compressed rows is, this package is
    return sparse.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, tuple(x.shape))


def _run(name: str) -> Any:
    def run(input: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
        held = values_of(input.get_data())
        method = getattr(held, name, None)
        made = method(*args, **kwargs) if method is not None else getattr(tenfold, name)(held, *args, **kwargs)
        return MaskedTensor.of(with_values(input.get_data(), made), input.get_mask())

    return run


for _name in (*UNARY_NAMES, *CONVERSIONS.split(), *OTHERS.split()):
    TABLE[_name] = _run(_name)


class Named:
    """The function of a method's name, in-place or not: `Named("exp_")(x)` is `x.exp_()`."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, self.__name__)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__name__} of tensors>"


NATIVE_UNARY_FNS = [Named(name) for name in UNARY_NAMES]
NATIVE_INPLACE_UNARY_FNS = [Named(name) for name in INPLACE_UNARY_NAMES]
