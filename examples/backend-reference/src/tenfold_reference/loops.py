"""The few loops behind every kernel: map (of one or more blocks), reduce, along a dimension, matmul.

An operator's shape rule does the rest of the work: it refuses what the operator does not take, in PyTorch's words, and
says the shape and dtype of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

import numpy as np

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold_reference.block import Block, expanded, new_block, walk


def geometry(operator: Operator, *arguments: Any) -> Meta:
    """The shape and dtype of the result; the rule's error for arguments that do not fit."""
    metas = [Meta(a.shape, a.dtype, a.strides) if isinstance(a, Block) else a for a in arguments]
    return operator.shape_rule(*metas)  # type: ignore[no-any-return]


def mapper(operator: Operator, function: Callable[..., Any]) -> Callable[..., Block]:
    """The kernel of an elementwise operator: `function` of the elements of all operands, broadcast."""

    def run(*operands: Any) -> Block:
        result = geometry(operator, *operands)
        dtype = next(x.dtype for x in reversed(operands) if isinstance(x, Block))
        return new_block(result.shape, result.dtype, map(function, *[_elements(x, result.shape, dtype) for x in operands]))

    return run


def _elements(operand: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterable[Any]:
    """A block's elements, broadcast; a Python number as often as needed, rounded as the blocks' dtype rounds it."""
    if isinstance(operand, Block):
        return expanded(operand, shape).values()
    return repeat(new_block((), dtype, [operand]).values()[0])


def reducer(operator: Operator, function: Callable[[list[Any]], Any]) -> Callable[..., Block]:
    """The kernel of a reduction over dimensions: `function` of the list of elements that fall together."""

    def run(input: Block, dim: Any, keepdim: bool) -> Block:
        result = geometry(operator, input, dim, keepdim)
        none = dim in ((), []) and operator.name in ("any", "all")  # where no dimension means none; elsewhere it means all
        dims = () if none or not input.shape else wrap_dims(dim, len(input.shape), operator.name)
        kept = [d for d in range(len(input.shape)) if d not in dims]
        firsts = walk([input.shape[d] for d in kept], [input.steps[d] for d in kept], input.start)
        others = walk([input.shape[d] for d in dims], [input.steps[d] for d in dims], 0)
        cells = input.cells
        return new_block(result.shape, result.dtype, (function([cells[p + q] for q in others]) for p in firsts))

    return run


def along(operator: Operator, function: Callable[[list[Any]], list[Any]]) -> Callable[..., Block]:
    """The kernel of an operator that turns every line of elements along one dimension into another such line."""

    def run(input: Block, dim: int) -> Block:
        result = geometry(operator, input, dim)
        block = new_block(result.shape, result.dtype, input.values())
        if 0 in block.shape:
            return block
        if not block.shape:
            return new_block((), result.dtype, function(block.values()))
        d = dim % len(block.shape)
        firsts = walk(block.shape[:d] + block.shape[d + 1 :], block.steps[:d] + block.steps[d + 1 :], 0)
        cells = block.cells
        for p in firsts:
            line = walk(block.shape[d : d + 1], block.steps[d : d + 1], p)
            for position, value in zip(line, function([cells[q] for q in line])):
                cells[position] = value
        return block

    return run


def matmul(operator: Operator, a: Block, b: Block) -> Block:
    """Rows of `a` times columns of `b`, for every matrix of a batch."""
    result = geometry(operator, a, b)
    left, right = a.cells, b.cells
    (M, K), N = a.shape[-2:], b.shape[-1]
    values = []
    for p, q in zip(walk(a.shape[:-2], a.steps, a.start), walk(b.shape[:-2], b.steps, b.start)):
        columns = [[right[r] for r in walk((K,), b.steps[-2:-1], q + n * b.steps[-1])] for n in range(N)]
        for m in range(M):
            row = [left[r] for r in walk((K,), a.steps[-1:], p + m * a.steps[-2])]
            values += [sum(x * y for x, y in zip(row, column)) for column in columns]
    return new_block(result.shape, result.dtype, values)
