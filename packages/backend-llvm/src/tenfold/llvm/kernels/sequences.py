"""Grids, combinations and blocks of several tensors: quick functions for tenfold-scientific's composites.

What they do not know is left to the composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.quick_views import free, here
from tenfold.tensor.tensor import wrap

_expand: Any = op.expand.fn
_view: Any = op.view.fn


def _given(tensors: tuple[Any, ...]) -> Any:
    return tensors[0] if len(tensors) == 1 and type(tensors[0]) in (list, tuple) else tensors


def _vectors(given: Any, known: Any) -> bool:
    """Whether these are vectors of one dtype, of each of which `known` holds."""
    return bool(given) and all(known(x) and x._array.ndim == 1 and x._array.dtype is given[0]._array.dtype for x in given)


def meshgrid(*tensors: Any, indexing: Any = None) -> Any:
    """The coordinates of a grid over vectors."""
    given = list(_given(tensors))
    if indexing not in ("ij", "xy") or not _vectors(given, here):
        return NotImplemented
    swaps = indexing == "xy" and len(given) > 1
    if swaps:
        given[0], given[1] = given[1], given[0]
    shape, n = [len(x._array) for x in given], len(given)
    grids = [_expand(_view(x, [-1 if i == d else 1 for i in range(n)]), shape) for d, x in enumerate(given)]
    if swaps:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def cartesian_prod(*tensors: Any) -> Any:
    """Every combination of elements of vectors, one in a row."""
    given = _given(tensors)
    if not _vectors(given, free) or len(given) < 2:
        return NotImplemented
    arrays, n = [x._array for x in given], len(given)
    made = np.empty((*map(len, arrays), n), arrays[0].dtype)
    for d, array in enumerate(arrays):
        made[..., d] = array.reshape([-1 if i == d else 1 for i in range(n)])
    return wrap(made.reshape(-1, n), CPU)


def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of one, zeros elsewhere."""
    given = _given(tensors)
    if not given or not all(free(x) and x._array.ndim == 2 and x._array.dtype is given[0]._array.dtype for x in given):
        return NotImplemented
    arrays = [x._array for x in given]
    made = np.zeros([sum(a.shape[d] for a in arrays) for d in (0, 1)], arrays[0].dtype)
    row = column = 0
    for a in arrays:
        made[row : row + a.shape[0], column : column + a.shape[1]] = a
        row, column = row + a.shape[0], column + a.shape[1]
    return wrap(made, CPU)


quickly(meshgrid, cartesian_prod, block_diag)
