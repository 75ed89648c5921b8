"""Operators of two tensors element by element: the masks have to match, and a plain tensor has all elements."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.masked.maskedtensor.core import TABLE, MaskedTensor, _masks_match
from tenfold.masked.maskedtensor.unary import Named, values_of, with_values

BINARY_NAMES = (
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide floor_divide fmod "
    "logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge greater greater_equal gt "
    "less_equal lt less maximum minimum fmax fmin not_equal"
).split()
_NO_INPLACE = ("logaddexp", "logaddexp2", "maximum", "minimum", "fmax", "fmin")
INPLACE_BINARY_NAMES = [name + "_" for name in BINARY_NAMES if name not in _NO_INPLACE]
_BESIDES = "add_scaled sub_scaled rsub logical_and logical_or logical_xor"


def _part(x: Any, like: Any) -> Any:
    """What of an argument meets the elements of the first MaskedTensor."""
    if isinstance(x, MaskedTensor):
        return values_of(x.get_data())
    if not isinstance(x, Tensor) or x.ndim == 0 or like.layout is tenfold.strided:
        return x
    return values_of(x.to_dense().sparse_mask(like))


def _mask_of(a: Any, b: Any, result: Any) -> Tensor:
    mask: Tensor = (a if isinstance(a, MaskedTensor) else b).get_mask()
    return mask if mask.shape == result.shape else mask.expand(tuple(result.shape))


def _run(name: str) -> Any:
    def run(input: Any, other: Any, *args: Any, **kwargs: Any) -> MaskedTensor:
        if not _masks_match(input, other):
            raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
        like = (input if isinstance(input, MaskedTensor) else other).get_data()
        made = getattr(tenfold, name)(_part(input, like), _part(other, like), *args, **kwargs)
        data = with_values(like, made)
        return MaskedTensor.of(data, _mask_of(input, other, data))

    return run


for _name in (*BINARY_NAMES, *_BESIDES.split()):
    TABLE[_name] = _run(_name)

NATIVE_BINARY_FNS = [Named(name) for name in BINARY_NAMES]
NATIVE_INPLACE_BINARY_FNS = [Named(name) for name in INPLACE_BINARY_NAMES]
