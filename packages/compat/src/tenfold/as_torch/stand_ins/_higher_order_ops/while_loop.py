"""`torch.while_loop`: a function applied to its own results for as long as a condition on them holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import Tensor

__all__ = ["while_loop"]


def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> Any:
    """What `body_fn` makes of `carried_inputs`, again and again while `cond_fn` of them is true; gradients go through all rounds.

    Both get the carried values as their arguments; `body_fn` returns as many, of the same shapes and dtypes.

    Raises: RuntimeError for values, conditions and results of other kinds.

    >>> import tenfold
    >>> while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (tenfold.tensor(0), tenfold.ones(1)))
    (tensor(3), tensor([8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("while_loop: Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"while_loop: carried_inputs must be a tuple or list, but got {type(carried_inputs).__name__}")
    carried = carried_inputs
    while _holds(cond_fn(*carried)):
        found = body_fn(*carried)
        found = found if isinstance(found, (tuple, list)) else (found,)
        _check(carried, found)
        carried = type(carried_inputs)(found)
    return carried


def _holds(found: Any) -> bool:
    if not isinstance(found, bool) and not (isinstance(found, Tensor) and found.numel() == 1):
        raise RuntimeError(
            f"while_loop: cond_fn must return a boolean scalar tensor or a boolean but got {found!r:.100}; reduce it with .all() "
            "or .any()"
        )
    return bool(found)


def _check(carried: Sequence[Any], found: Sequence[Any]) -> None:
    """Refuse results that are not of the kinds of what was carried in."""
    kinds, now = ([_kind(x) for x in values] for values in (carried, found))
    if kinds != now:
        raise RuntimeError(
            f"while_loop: body_fn must return values of the shapes and dtypes that it gets, {kinds}, but got {now}"
        )


def _kind(x: Any) -> Any:
    return (tuple(x.shape), str(x.dtype)) if isinstance(x, Tensor) else type(x).__name__
