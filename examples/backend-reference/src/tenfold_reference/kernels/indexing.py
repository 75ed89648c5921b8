"""Reading and adding at positions that a tensor of indices gives along one dimension."""

from __future__ import annotations

from collections.abc import Iterator

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold_reference.block import Block, new_block
from tenfold_reference.loops import geometry

TABLE = {"gather": None, "scatter_add": None}


def places(block: Block, dim: int, index: Block) -> Iterator[int]:
    """For each element of `index`, where in `block` it points: its own place, but for the dimension `dim`."""
    d = dim % len(index.shape) if index.shape else 0
    steps = [0 if i == d else step for i, step in enumerate(block.steps)]
    own = Block(block.memory, block.dtype, index.shape, tuple(steps), block.start).positions()
    size, step = (block.shape[d], block.steps[d]) if block.shape else (1, 0)
    for place, i in zip(own, index.values()):
        if not -size <= i < size:
            raise RuntimeError(f"index {i} is out of bounds for dimension {dim} with size {size}")
        yield place + (i % size) * step


@kernel(op.gather, device="ref")
def gather(input: Block, dim: int, index: Block, sparse_grad: bool) -> Block:
    result = geometry(op.gather, input, dim, index, sparse_grad)
    cells = input.cells
    return new_block(result.shape, result.dtype, (cells[p] for p in places(input, dim, index)))


@kernel(op.scatter_add, device="ref")
def scatter_add(input: Block, dim: int, index: Block, src: Block) -> Block:
    result = geometry(op.scatter_add, input, dim, index, src)
    sums = new_block(result.shape, result.dtype, input.values())
    totals = sums.cells.tolist()
    part = Block(src.memory, src.dtype, index.shape, src.steps, src.start)
    for place, value in zip(places(sums, dim, index), part.values()):
        totals[place] += value
    return new_block(result.shape, result.dtype, totals)
