"""`torch._functorch.vmap`: vmap, and what libraries borrow from its file."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from tenfold import Tensor
from tenfold.as_torch.stand_ins._C._functorch import _add_batch_dim, _remove_batch_dim
from tenfold.utils._pytree import (
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_map_,
    tree_unflatten,
)

__all__ = ["Tensor", "_add_batch_dim", "_broadcast_to_and_flatten", "_remove_batch_dim", "tree_flatten", "tree_map_",
           "restore_vmap", "tree_unflatten", "vmap"]  # fmt: skip


_OWN = importlib.import_module("tenfold._functorch.vmap")  # of tenfold-autograd, which this package does not need otherwise
restore_vmap, vmap = _OWN.restore_vmap, _OWN.vmap


def _get_name(func: Callable[..., Any]) -> str:
    """A function's name for errors."""
    inner = func.func if isinstance(func, functools.partial) else func
    return getattr(inner, "__name__", repr(inner))


def _maybe_remove_batch_dim(name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None) -> Any:
    """A result of a function under vmap with all its examples."""
    if out_dim is None:
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)
