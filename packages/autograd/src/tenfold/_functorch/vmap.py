"""`torch._functorch.vmap`: the batching of a function, and one level of it as a program of its own would enter it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd.batch_level import BatchLevel
from tenfold.autograd.func import vmap
from tenfold.autograd.pytree import broadcast_prefix, flatten, unflatten
from tenfold.tensor.tensor import Tensor

__all__ = ["restore_vmap", "vmap"]


def restore_vmap(func: Callable[..., Any], in_dims: Any, batch_size: int, randomness: str) -> Callable[..., Any]:
    """The function on one level of vmap, whose results come with where their batch is: (results, a tree of dimensions).

    Unlike `vmap` it takes arguments none of which has a batch, and leaves results as they are: None for what does not differ.

    >>> import tenfold
    >>> from tenfold._functorch.vmap import restore_vmap
    >>> restore_vmap(lambda x, y: (x + y, y), (0, None), 2, "error")(tenfold.tensor([1.0, 2.0]), tenfold.tensor(1.0))
    ((tensor([2., 3.]), tensor(1.)), (0, None))
    """

    def restored(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = flatten(args)
        dims = broadcast_prefix(in_dims, spec)
        if dims is None:
            raise ValueError(f"restore_vmap: in_dims {in_dims} does not fit the arguments")
        with BatchLevel(batch_size, randomness) as level:
            given = [level.wrap(leaf, dim % leaf.dim()) if dim is not None else leaf for leaf, dim in zip(leaves, dims)]
            results, made = flatten(func(*unflatten(given, spec), **kwargs))
            pairs = [level.unwrap(r) if isinstance(r, Tensor) else (r, None) for r in results]
        return unflatten([value for value, _ in pairs], made), unflatten([dim for _, dim in pairs], made)

    return restored
