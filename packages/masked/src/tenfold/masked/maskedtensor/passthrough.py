"""Operators that move elements about and take the mask along."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.masked.maskedtensor.chosen import chosen
from tenfold.masked.maskedtensor.core import TABLE, MaskedTensor, knows

NAMES = (
    "select transpose split t slice view view_as expand expand_as unsqueeze squeeze reshape reshape_as flatten unflatten narrow "
    "getitem __getitem__ index permute movedim swapaxes swapdims chunk unbind diagonal flip roll repeat tile unfold "
    "index_select take_along_dim gather cat concat concatenate stack hstack vstack mT T broadcast_to masked_select"
).split()


def _parts(value: Any, of: Any) -> Any:
    """The argument with `of` every MaskedTensor in it."""
    if isinstance(value, MaskedTensor):
        return of(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, MaskedTensor) for v in value):
        return type(value)(_parts(v, of) for v in value)
    return value


def _joined(data: Any, mask: Any) -> Any:
    if isinstance(data, Tensor):
        return MaskedTensor.of(data, mask)
    return type(data)(_joined(d, m) for d, m in zip(data, mask, strict=True))


def _run(name: str) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        operator = tenfold.op.__getattr__(name).fn
        results = [
            operator(*(_parts(a, of) for a in args), **{k: _parts(v, of) for k, v in kwargs.items()})
            for of in (MaskedTensor.get_data, MaskedTensor.get_mask)
        ]
        return _joined(*results)

    return run


for _name in NAMES:
    TABLE[_name] = _run(_name)


def _pair(x: Any) -> tuple[Any, Any]:
    return (x.get_data(), x.get_mask()) if isinstance(x, MaskedTensor) else (x, True)


@knows("where")
def where(condition: Any, input: Any = None, other: Any = None) -> MaskedTensor:
    """Elements of one or the other, there where the one that was chosen is."""
    (a, mask_a), (b, mask_b) = _pair(input), _pair(other)
    if isinstance(condition, Tensor):
        a = chosen(a, condition) if isinstance(input, MaskedTensor) else a
        b = chosen(b, ~condition) if isinstance(other, MaskedTensor) else b
    return MaskedTensor.of(tenfold.where(condition, a, b), tenfold.where(condition, mask_a, mask_b))


@knows("item")
def item(input: Any) -> Any:
    """The only element."""
    return input.get_data().item()
