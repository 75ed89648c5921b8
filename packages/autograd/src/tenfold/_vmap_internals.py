"""`torch._vmap_internals`: vmap under the path that it first had."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tenfold.autograd.vmap import vmap as _batched

__all__ = ["vmap"]


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """Deprecated: `tenfold.vmap`."""
    warnings.warn("Please use tenfold.vmap instead of tenfold._vmap_internals.vmap.", FutureWarning, stacklevel=2)
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """The function over a batch; results that are None stay so with `allow_none_pass_through`."""
    if not allow_none_pass_through:
        return _batched(func, in_dims, out_dims)
    return lambda *args: _without_nones(func, in_dims, out_dims, args)


def _without_nones(func: Callable[..., Any], in_dims: Any, out_dims: Any, args: tuple[Any, ...]) -> Any:
    places: list[Any] = []

    def present(*given: Any) -> Any:
        results = func(*given)
        several = results if isinstance(results, tuple) else (results,)
        places[:] = [type(results) is tuple, *(r is None for r in several)]
        return tuple(r for r in several if r is not None)

    made = iter(_batched(present, in_dims, out_dims)(*args))
    several, *empty = places
    results = tuple(None if none else next(made) for none in empty)
    return results if several else results[0]
