"""`grid_sample` and its gradients: the operators of tenfold-nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import sampling
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.places_between import Sampling
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

VALUES = Compiled("sampling at places", sampling.values, vectors=True)
OF_PLANES = Compiled("the planes' gradient of sampling", sampling.plane_gradient, vectors=True)
OF_PLACES = Compiled("the places' gradient of sampling", sampling.place_gradient, vectors=True)
WORK = 1 << 13
MOST = 1 << 31  # elements of a plane, whose places are in 32 bits
LANES = 16  # at most
NOTE = "float32 and float64"


def _stored(x: Array, grid: Array, plane: int) -> Stored | None:
    stored = BY_DTYPE.get(x.dtype)
    if stored not in (FLOAT32, FLOAT64) or grid.dtype != x.dtype or not x.size or not grid.size or plane >= MOST:
        return None
    return stored


def _vectors(x: Array, grid: Array, stored: Stored) -> tuple[int, int]:
    """How many vectors of places there are, and how many are worth a thread."""
    lanes = registers().lanes(stored)
    return grid.shape[0] * -(-prod(grid.shape[1:-1]) // lanes), max(1, WORK // (LANES * 4 * x.shape[1]))


def fused_grid_sample(input: Array, grid: Array, mode: str, padding_mode: str, align_corners: bool) -> Any:
    sizes = input.shape[2:]
    stored = _stored(input, grid, prod(sizes))
    if stored is None:
        return NotImplemented
    x, places = in_one_piece(input), in_one_piece(grid)
    out = empty((*input.shape[:2], *grid.shape[1:-1]), stored)
    how = Sampling(stored, len(sizes), mode, padding_mode, bool(align_corners))
    given = (x, places, out, input.shape[1], prod(grid.shape[1:-1]), *sizes)
    return out if VALUES.run((how,), *_vectors(x, grid, stored), *given) else NotImplemented


def fused_grid_sample_input_grad(
    grad: Array, grid: Array, input_shape: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    shape = tuple(input_shape)
    stored = _stored(grad, grid, prod(shape[2:]))
    if stored is None:
        return NotImplemented
    out = empty(shape, stored)
    out.fill(0)
    how = Sampling(stored, len(shape) - 2, mode, padding_mode, bool(align_corners))
    given = (in_one_piece(grad), in_one_piece(grid), out, shape[1], prod(grid.shape[1:-1]), *shape[2:])
    return out if OF_PLANES.run((how,), shape[0], max(1, WORK * shape[0] // (4 * grad.size)), *given) else NotImplemented


def fused_grid_sample_grid_grad(grad: Array, input: Array, grid: Array, mode: str, padding_mode: str, align_corners: bool) -> Any:
    sizes = input.shape[2:]
    stored = _stored(input, grid, prod(sizes))
    if stored is None or grad.dtype != input.dtype or mode == "nearest":
        return np.zeros(grid.shape, grid.dtype) if stored is not None and mode == "nearest" else NotImplemented
    out = empty(grid.shape, stored)
    how = Sampling(stored, len(sizes), mode, padding_mode, bool(align_corners))
    given = (in_one_piece(grad), in_one_piece(input), in_one_piece(grid), out, input.shape[1], prod(grid.shape[1:-1]), *sizes)
    return out if OF_PLACES.run((how,), *_vectors(input, grid, stored), *given) else NotImplemented


chosen("fused_grid_sample", fused_grid_sample, 5, NOTE, halves=1)
chosen("fused_grid_sample_input_grad", fused_grid_sample_input_grad, 6, NOTE, halves=1)
chosen("fused_grid_sample_grid_grad", fused_grid_sample_grid_grad, 6, NOTE, halves=1)
