"""The blocks that a mask keeps, drawn as text."""

from __future__ import annotations

from itertools import product

from tenfold import Tensor

_MORE = (
    "...",
    "To print out more, set BlockMask.to_string(limit=N)",
    "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
)


def blocks_as_text(dense: Tensor, grid_size: int | tuple[int, int], limit: int) -> str:
    """Blocks (..., rows, columns) of 0 and 1 as a picture of at most `grid_size` fields for each of the first `limit` matrices.

    A field is full where all of its blocks are kept, grey where some are. A `grid_size` of -1 draws each block.
    """
    *batch, rows, columns = dense.shape
    most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
    steps = [max(1, -(-size // wanted)) if wanted > 0 else 1 for size, wanted in zip((rows, columns), most, strict=True)]
    drawn: list[str] = []
    for number, place in enumerate(product(*map(range, batch))):
        if number == limit:
            drawn += _MORE
            break
        drawn.append(f"{place}\n{_picture(dense[place].tolist(), *steps)}")
    return "\n".join(drawn)


def _picture(blocks: list[list[int]], down: int, across: int) -> str:
    lines = []
    for top in range(0, len(blocks), down):
        fields = ([row[left : left + across] for row in blocks[top : top + down]] for left in range(0, len(blocks[top]), across))
        lines.append("".join(_field([kept for row in field for kept in row]) * 2 for field in fields) + "\n")
    return "".join(lines)


def _field(kept: list[int]) -> str:
    return "\u2588" if all(kept) else "\u2591" if any(kept) else " "
