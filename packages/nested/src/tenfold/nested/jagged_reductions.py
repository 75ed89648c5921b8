"""Reductions, softmax and normalization of jagged nested tensors."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.jagged import NestedTensor
from tenfold.nested.table import JAGGED, dimension, knows


@knows(JAGGED, "sum", "mean", "amax", "amin", "prod", "any", "all", "max", "min", "argmax", "argmin")
def reduce(func: Any, input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
    """A reduction of all elements, of dimensions that are not ragged, of each row, or over all rows."""
    name = func.op.name
    if isinstance(dim, Tensor):  # the greater or smaller of two
        from tenfold.nested.jagged_table import elementwise  # what works element by element is there

        return elementwise(func, input, dim)
    x = input.packed()
    if dim is None or dim == ():
        return func(x._held, **kwargs)
    dims = [dimension(d, x.dim()) for d in ([dim] if isinstance(dim, int) else dim)]
    one = isinstance(dim, int)
    r = x._ragged_idx
    if 0 in dims and r not in dims:
        raise RuntimeError(
            f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors "
            "(applying over the batch dimension, but not the ragged dimension)"
        )
    if 0 in dims:  # every row's places alike
        inside = [d - 1 for d in dims if d]
        out = func(
            x._held, inside if len(inside) > 1 or name in ("sum", "mean", "amax", "amin") else inside[0], keepdim, **kwargs
        )
        return out.unsqueeze(0) if keepdim else out
    if r not in dims:
        inside = [d - 1 for d in dims]
        out = func(x._held, inside[0] if one else inside, keepdim, **kwargs)
        ragged = r if keepdim else r - sum(d < r for d in dims)
        return _each_part(out, lambda part: x.like(part, ragged))
    if len(dims) > 1:
        raise RuntimeError(
            f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors "
            "(applying over the ragged dimension, but not the batch dimension)"
        )
    rows = [func(row, r - 1, keepdim, **kwargs) for row in x.rows()]
    if isinstance(rows[0], tuple):
        return type(rows[0])(*(tenfold.stack(list(part)) for part in zip(*rows)))
    return tenfold.stack(rows)


def _each_part(out: Any, make: Any) -> Any:
    """The result, or results such as the values and indices of a maximum, as nested tensors."""
    return type(out)(*(make(part) for part in out)) if isinstance(out, tuple) else make(out)


@knows(JAGGED, "softmax", "log_softmax")
def softmax(func: Any, input: Any, dim: int, dtype: Any = None) -> Any:
    """Softmax along a dimension: along the ragged one of each row by itself."""
    d = dimension(dim, input.dim())
    name = func.op.name
    if d == 0:
        raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
    x = input.packed()
    if d != x._ragged_idx:
        return x.like(func(x._held, d - 1, dtype=dtype))
    return x.like(tenfold.cat([func(row, d - 1, dtype=dtype) for row in x.rows()], d - 1))


@knows(JAGGED, "layer_norm", "rms_norm")
def layer_norm(func: Any, input: Any, normalized_shape: Any, *args: Any, **kwargs: Any) -> Any:
    """Normalization over the last dimensions, none of which is ragged."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    name = func.op.name
    if input.dim() - len(shape) <= input._ragged_idx:
        raise RuntimeError(f"{name}(): normalizing over ragged dim not supported for nested tensors")
    return input.like(func(input._held, shape, *args, **kwargs))


@knows(JAGGED, "dropout", "alpha_dropout", "bernoulli")
def dropout(func: Any, input: Any, *args: Any, **kwargs: Any) -> NestedTensor:
    """Elements at random."""
    made: NestedTensor = input.like(func(input._held, *args, **kwargs))
    return made
