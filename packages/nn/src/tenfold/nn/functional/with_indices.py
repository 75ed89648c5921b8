"""Maximum pooling that returns the places of the maxima too: `max_pool2d_with_indices` and its kin."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tenfold.nn.ops.pool.adaptive import adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d
from tenfold.nn.ops.pool.fractional import fractional_max_pool2d, fractional_max_pool3d
from tenfold.nn.ops.pool.windows import max_pool1d, max_pool2d, max_pool3d
from tenfold.tensor.tensor import Tensor


def _with_indices(pool: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    """The pooling with `return_indices=True`, whatever the caller says of it."""
    signature = inspect.signature(pool)

    def pooled(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        given = signature.bind(*args, **kwargs)
        given.arguments["return_indices"] = True
        result: tuple[Tensor, Tensor] = pool(*given.args, **given.kwargs)
        return result

    name = pool.op.name
    pooled.__name__ = pooled.__qualname__ = f"{name}_with_indices"
    pooled.__doc__ = f"`{name}` with `return_indices=True`."
    pooled.__signature__ = signature  # type: ignore[attr-defined]
    return pooled


max_pool1d_with_indices = _with_indices(max_pool1d)
max_pool2d_with_indices = _with_indices(max_pool2d)
max_pool3d_with_indices = _with_indices(max_pool3d)
adaptive_max_pool1d_with_indices = _with_indices(adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(adaptive_max_pool3d)
fractional_max_pool2d_with_indices = _with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(fractional_max_pool3d)
