"""What compressed layouts demand of their parts."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.compressed import BLOCKS, BY_ROW, LAYOUTS
from tenfold.tensor.layouts import layout_name
from tenfold.types.dtypes import type_name


def check_compressed(starts: Tensor, places: Tensor, held: Tensor, size: tuple[int, ...], layout: Any) -> None:
    """RuntimeError that names the first demand that is not met."""
    if layout not in LAYOUTS:
        raise RuntimeError(f"expected sparse compressed tensor layout but got {layout_name(layout)}")
    by_row = layout in BY_ROW
    first, second = ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices")
    for name, x in ((first, starts), (second, places)):
        if x.ndim and x.shape[-1] > 1 and x.stride(-1) != 1:
            raise RuntimeError(f"expected {name} to be a contiguous tensor per batch, got the stride {x.stride(-1)}")
    if starts.ndim < 1:
        raise RuntimeError(f"{first} must have dimensionality >= 1 but got {starts.ndim}")
    if starts.ndim != places.ndim:
        raise RuntimeError(
            f"{first} and {second} dimensionalities must be equal but got {starts.ndim} and {places.ndim}, respectively"
        )
    _check_sizes(starts, places, held, size, (first, second), 2 if layout in BLOCKS else 0)
    lines = _lines(size, held, places.ndim, layout)
    _check_counts(starts, places, held, lines, (first, second), layout)
    if starts.dtype is not places.dtype:
        raise RuntimeError(
            f"{first} and {second} must have the same dtype, bot got {type_name(starts.dtype)} and {type_name(places.dtype)}, "
            f"respectively"  # "bot" is how PyTorch spells it in this message
        )
    if starts.dtype not in (tenfold.int32, tenfold.int64):
        raise RuntimeError(f"{first} and {second} dtype must be Int or Long, but got {type_name(starts.dtype)}")
    _check_numbers(starts, places, lines, (first, second), by_row)


def _check_sizes(
    starts: Tensor, places: Tensor, held: Tensor, size: tuple[int, ...], names: tuple[str, str], block: int
) -> None:  # fmt: skip
    """That parts and size agree on the dimensions that count matrices."""
    batch = starts.ndim - 1
    if held.ndim <= batch + block:
        raise RuntimeError(
            f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + {block}) but got {held.ndim}"
        )
    dense = held.ndim - batch - block - 1
    if len(size) != batch + 2 + dense:
        raise RuntimeError(
            f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (={batch} + 2 + {dense}) but got "
            f"{len(size)}"
        )
    found = [tuple(x.shape[:batch]) for x in (starts, places, held)]
    if any(f != tuple(size[:batch]) for f in found):
        raise RuntimeError(
            f"all batch dimensions of {names[0]} (={list(found[0])}), {names[1]} (={list(found[1])}), and values "
            f"(={list(found[2])}) must be equal to tensor batch dimensions (={list(size[:batch])})"
        )


def _lines(size: tuple[int, ...], held: Tensor, n: int, layout: Any) -> tuple[int, int]:
    """How many lines are compressed, and how long they are, in blocks."""
    block = tuple(held.shape[n : n + 2]) if layout in BLOCKS else (1, 1)
    for d, width in enumerate(block):
        if width and size[n - 1 + d] % width:
            raise RuntimeError(
                f"tensor shape[{d}] (={size[n - 1 + d]}) must be divisible with blocksize[{d}] (={width}) as defined by values "
                f"shape"
            )
    rows, columns = (size[n - 1 + d] // width if width else 0 for d, width in enumerate(block))
    return (rows, columns) if layout in BY_ROW else (columns, rows)


def _check_counts(
    starts: Tensor, places: Tensor, held: Tensor, lines: tuple[int, int], names: tuple[str, str], layout: Any
) -> None:  # fmt: skip
    count, nnz, n = lines[0], held.shape[places.ndim - 1], places.ndim
    what = ("row" if layout in BY_ROW else "column") + (" blocks" if layout in BLOCKS else "s")
    if starts.shape[-1] != count + 1:
        raise RuntimeError(
            f"{names[0]}.shape[-1] must be equal to the number of {what} + 1 (={count + 1}), but got {starts.shape[-1]}"
        )
    if places.shape[-1] != nnz:
        raise RuntimeError(
            f"{names[1]}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{n - 1}], but got {places.shape[-1]}"
        )


def _check_numbers(
    starts: Tensor, places: Tensor, lines: tuple[int, int], names: tuple[str, str], by_row: bool
) -> None:  # fmt: skip
    first, second = names
    count, width = lines
    compressed, other = ("nrows", "ncols") if by_row else ("ncols", "nrows")
    nnz = places.shape[-1]
    steps = starts[..., 1:] - starts[..., :-1]
    for holds, demand in (
        ((starts[..., 0] == 0).all(), f"{first}[..., 0] == 0"),
        ((starts[..., -1] == nnz).all(), f"{first}[..., -1] == nnz"),
        (((steps >= 0) & (steps <= width)).all(), f"0 <= {first}[..., 1:] - {first}[..., :-1] <= {other}"),
        (((places >= 0) & (places < width)).all(), f"0 <= {second} < {other}"),
    ):
        if not holds:
            raise RuntimeError(f"`{demand}` is not satisfied.")
    if not nnz:  # nor can lines be told apart that are empty
        return
    for line_starts, line_places in zip(starts.reshape(-1, count + 1), places.reshape(-1, nnz), strict=True):
        rising = line_places[1:] > line_places[:-1]
        inner = tenfold.ones(max(nnz - 1, 0), dtype=tenfold.bool, device=places.device)
        ends = line_starts[(line_starts > 0) & (line_starts < nnz)]
        inner[ends.to(tenfold.int64) - 1] = False
        if not (rising | ~inner).all():
            raise RuntimeError(
                f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., {compressed} are sorted and distinct "
                "along the last dimension values` is not satisfied."
            )
