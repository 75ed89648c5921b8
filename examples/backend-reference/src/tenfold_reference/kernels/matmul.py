"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable

from tenfold.dispatch.operators import Operator
from tenfold_reference.attach import attach
from tenfold_reference.block import Block
from tenfold_reference.loops import matmul


def product(operator: Operator, _: None) -> Callable[[Block, Block], Block]:
    def run(input: Block, mat2: Block) -> Block:
        return matmul(operator, input, mat2)

    return run


TABLE = {"mm": None, "bmm": None}

attach(product, TABLE)
