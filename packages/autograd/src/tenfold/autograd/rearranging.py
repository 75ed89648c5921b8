"""`rearrange`: a tensor's dimensions in another order, joined and split, by a pattern of their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NoReturn

import tenfold
from tenfold import Tensor

Groups = tuple[tuple[str, ...], ...]  # of each dimension the axes that it is made of; none of a dimension of one element
_REST, _REST_AS_ONE = "...", "(...)"  # each a dimension of its own, or all of them one
_TOKEN = re.compile(r"\s*(\.\.\.|[()]|\w+)\s*")


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """The tensor with its dimensions as the right side of `pattern` names them; those in brackets are one dimension.

    `...` stands for any number of dimensions, `1` and `()` for one of a single element; a list of tensors is stacked first.
    Shape: that of the right side. Dtype: the tensor's. The result is a view where one can show it.
    Raises: ValueError for a pattern that cannot be read, that has an axis on one side only or does not fit the shape; TypeError
    for lengths that are no integers.
    Differs from PyTorch: a pattern that does not fit the sizes is a ValueError, also where a dimension named `1` has more
    elements.
    Source: Rogozhnikov, "Einops: Clear and Reliable Tensor Manipulations with Einstein-like Notation", 2022.

    >>> import tenfold
    >>> x = tenfold.arange(12).view(2, 6)
    >>> rearrange(x, "b (h w) -> h (b w)", h=3).tolist()
    [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    """
    x = tensor if isinstance(tensor, Tensor) else tenfold.stack(tensor)
    left, right = _sides(pattern)
    _check_lengths(pattern, left, axes_lengths)
    left, right = _without_rest(pattern, left, right, x.dim())
    sizes = _sizes(pattern, left, tuple(x.shape), axes_lengths)
    order = {name: at for at, name in enumerate(sizes)}
    axes = x.reshape(tuple(sizes.values())).permute([order[name] for group in right for name in group])
    return axes.reshape(tuple(prod(sizes[name] for name in group) for group in right))


@lru_cache(1000)
def _sides(pattern: str) -> tuple[Groups, Groups]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"rearrange: the pattern must have one '->' between two sides, got {pattern!r}")
    left, right = (_groups(pattern, side) for side in sides)
    if any(_REST_AS_ONE in group for group in left):
        _refuse(pattern, "... inside brackets of the left side could be split anyhow")
    if alone := set(_names(left)) ^ set(_names(right)):
        _refuse(pattern, f"each axis must be on both sides, which {sorted(alone)} are not")
    return left, right


def _groups(pattern: str, side: str) -> Groups:
    """The groups of axes that one side names."""
    found: list[tuple[str, ...]] = []
    opened: list[str] | None = None
    for token in _tokens(pattern, side):
        if token == "(" and opened is None:
            opened = []
        elif token == ")" and opened is not None:
            found.append(tuple(opened))
            opened = None
        elif token in "()":
            _refuse(pattern, "its brackets are not balanced, or one pair stands inside another")
        elif opened is not None:
            opened += _axis(pattern, token) if token != _REST else (_REST_AS_ONE,)
        else:
            found.append(_axis(pattern, token))
    if opened is not None:
        _refuse(pattern, "a bracket is not closed")
    repeated = [name for name, times in Counter(_names(found)).items() if times > 1]
    if repeated:
        _refuse(pattern, f"one side names {repeated} more than once")
    return tuple(found)


def _names(groups: Sequence[tuple[str, ...]]) -> list[str]:
    return [_REST if name == _REST_AS_ONE else name for group in groups for name in group]


def _tokens(pattern: str, side: str) -> list[str]:
    tokens, at, side = [], 0, side.strip()
    while at < len(side):
        token = _TOKEN.match(side, at)
        if token is None:
            _refuse(pattern, f"{side[at]!r} is no part of a name; dots come as three")
        tokens.append(token[1])
        at = token.end()
    return tokens


def _axis(pattern: str, token: str) -> tuple[str, ...]:
    if token == "1":
        return ()
    if token.isdecimal():
        _refuse(pattern, f"a dimension without a name has one element, not {token}")
    if token != _REST and (not token.isidentifier() or "_" in (token[0], token[-1])):
        _refuse(pattern, f"{token!r} is no name of an axis: a letter, then letters, digits and underscores, which are not last")
    return (token,)


def _check_lengths(pattern: str, left: Groups, lengths: dict[str, int]) -> None:
    for name, length in lengths.items():
        if not hasattr(length, "__int__"):
            raise TypeError(f"rearrange: lengths of axes must be integers, got {name}={length!r}")
    if unknown := lengths.keys() - set(_names(left)):
        _refuse(pattern, f"it has no axes {sorted(unknown)}")


def _without_rest(pattern: str, left: Groups, right: Groups, dims: int) -> tuple[Groups, Groups]:
    """Both sides with a name for each dimension that `...` stands for."""
    rest = dims - len(left) + 1 if (_REST,) in left else 0
    if rest < 0 or ((_REST,) not in left and dims != len(left)):
        _refuse(pattern, f"the tensor has {dims} dimensions, the left side {len(left) - ((_REST,) in left)}")
    names = tuple(f"{_REST}{i}" for i in range(rest))

    def spread(groups: Groups) -> Groups:
        found: list[tuple[str, ...]] = []
        for group in groups:
            if group == (_REST,):
                found += [(name,) for name in names]
            else:
                found.append(tuple(name for axis in group for name in (names if axis == _REST_AS_ONE else (axis,))))
        return tuple(found)

    return spread(left), spread(right)


def _sizes(pattern: str, left: Groups, shape: tuple[int, ...], lengths: dict[str, int]) -> dict[str, int]:
    """The number of elements along each axis, in the left side's order; one of each dimension may follow from the others."""
    found: dict[str, int] = {}
    for group, size in zip(left, shape, strict=True):
        open_axes = [name for name in group if name not in lengths]
        if len(open_axes) > 1:
            _refuse(pattern, f"of {open_axes} all but one need a length, such as {open_axes[0]}=2")
        found |= {name: int(lengths.get(name, 1)) for name in group}
        known = prod(found[name] for name in group)
        if open_axes:
            found[open_axes[0]] = size // known if known > 0 else -1  # which is no size
        if prod(found[name] for name in group) != size or -1 in found.values():
            _refuse(pattern, f"a dimension of {size} elements is not ({' '.join(f'{n}={found[n]}' for n in group) or '1'})")
    return found


def _refuse(pattern: str, reason: str) -> NoReturn:
    raise ValueError(f"rearrange: {pattern!r} cannot be followed: {reason}")
