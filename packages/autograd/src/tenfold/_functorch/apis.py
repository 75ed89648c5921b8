"""`torch._functorch.apis`: vmap and grad under PyTorch's own path, and vmap in a number of parts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.autograd.func import grad, grad_and_value, vmap
from tenfold.autograd.pytree import flatten
from tenfold.autograd.vmap import batch_size

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """`vmap` whose examples are taken in `chunks` parts of equal size, of which the last may be smaller, or lacking.

    Raises what `vmap` raises, and RuntimeError for a number of parts that is not positive.

    >>> import tenfold
    >>> from tenfold._functorch.apis import chunk_vmap
    >>> chunk_vmap(lambda x: x.sum(), chunks=3)(tenfold.arange(8.0).view(4, 2))
    tensor([ 1.,  5.,  9., 13.])
    """
    if type(chunks) is not int:
        raise TypeError(f"chunk_vmap: chunks must be int, not {type(chunks).__name__}")
    whole = vmap(func, in_dims, out_dims, randomness)
    if chunks == 1:
        return whole

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if chunks <= 0:
            raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
        size = -(-batch_size(func, in_dims, *flatten(args)) // chunks)
        return vmap(func, in_dims, out_dims, randomness, chunk_size=max(size, 1))(*args, **kwargs)

    return mapped
