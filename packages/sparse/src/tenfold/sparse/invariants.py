"""What compressed layouts demand of their parts."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.compressed import BLOCKS, BY_ROW


def check_compressed(starts: Tensor, places: Tensor, held: Tensor, size: tuple[int, ...], layout: Any) -> None:
    """RuntimeError that names the first demand that is not met."""
    by_row = layout in BY_ROW
    first, second = ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices")
    for name, x in ((first, starts), (second, places)):
        if x.dtype not in (tenfold.int32, tenfold.int64):
            raise RuntimeError(f"{name} dtype must be Int or Long, but got {x.dtype}")
        if x.ndim < 1:
            raise RuntimeError(f"{name} must have dimensionality >= 1 but got {x.ndim}")
    if starts.dtype is not places.dtype:
        raise RuntimeError(f"{first} and {second} dtype must match but got {starts.dtype} and {places.dtype}, respectively")
    n = places.ndim
    if starts.ndim != n or held.ndim < n + (2 if layout in BLOCKS else 0):
        raise RuntimeError(f"number of batch dimensions of {first}, {second} and values must be the same")
    if held.shape[n - 1] != places.shape[-1]:
        raise RuntimeError(f"values must have {places.shape[-1]} specified elements as {second} has, got {held.shape[n - 1]}")
    _check_numbers(starts, places, _lines(size, held, n, layout), (first, second), by_row)


def _lines(size: tuple[int, ...], held: Tensor, n: int, layout: Any) -> tuple[int, int]:
    """How many lines are compressed, and how long they are, in blocks."""
    H, W = (held.shape[n], held.shape[n + 1]) if layout in BLOCKS else (1, 1)
    if len(size) < n + 1:
        raise RuntimeError(f"size must have at least {n + 1} dimensions, got {list(size)}")
    M, N = size[n - 1], size[n]
    if (H and M % H) or (W and N % W):
        raise RuntimeError(f"tensor shape[{n - 1}:{n + 1}] = ({M}, {N}) must be divisible with blocksize ({H}, {W})")
    rows, columns = (M // H if H else 0), (N // W if W else 0)
    return (rows, columns) if layout in BY_ROW else (columns, rows)


def _check_numbers(
    starts: Tensor, places: Tensor, lines: tuple[int, int], names: tuple[str, str], by_row: bool
) -> None:  # fmt: skip
    first, second = names
    count, width = lines
    words = ("rows", "ncols") if by_row else ("columns", "nrows")
    if starts.shape[-1] != count + 1:
        raise RuntimeError(
            f"{first}.shape[-1] must be equal to the number of {words[0]} + 1 (={count + 1}), but got {starts.shape[-1]}"
        )
    nnz = places.shape[-1]
    steps = starts[..., 1:] - starts[..., :-1]
    for holds, demand in (
        ((starts[..., 0] == 0).all(), f"{first}[..., 0] == 0"),
        ((starts[..., -1] == nnz).all(), f"{first}[..., -1] == nnz"),
        (((steps >= 0) & (steps <= width)).all(), f"0 <= {first}[..., 1:] - {first}[..., :-1] <= {words[1]}"),
        (((places >= 0) & (places < width)).all(), f"0 <= {second} < {words[1]}"),
    ):
        if not holds:
            raise RuntimeError(f"`{demand}` is not satisfied.")
    for line_starts, line_places in zip(starts.reshape(-1, count + 1), places.reshape(-1, nnz), strict=True):
        rising = line_places[1:] > line_places[:-1]
        inner = tenfold.ones(max(nnz - 1, 0), dtype=tenfold.bool, device=places.device)
        ends = line_starts[(line_starts > 0) & (line_starts < nnz)]
        inner[ends.to(tenfold.int64) - 1] = False
        if not (rising | ~inner).all():
            raise RuntimeError(
                f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., {words[1]} are sorted and distinct "
                "along the last dimension values` is not satisfied."
            )
