"""What an equation of `einsum` comes to for operands of known shapes: steps, found once, without the questions before each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tenfold.dispatch.shape_rules import broadcast_shapes

Ints = Sequence[int]
Shape = tuple[int, ...]


class Step(NamedTuple):
    """A method of one of the tensors there are so far, by its number; `other`: the number of the one that it takes."""

    method: str
    number: int
    other: int | None
    given: tuple[Any, ...]


class Steps(NamedTuple):
    """All steps from the operands, which are numbered first, to the result, which is the last."""

    steps: tuple[Step, ...]

    def __call__(self, operands: Sequence[Any]) -> Any:
        made = list(operands)
        for method, number, other, given in self.steps:
            found = getattr(made[number], method)
            made.append(found(*given) if other is None else found(made[other]))
        return made[-1]


class Noted:
    """A shape that stands for a tensor: what is asked of it is noted, but for what would change nothing."""

    def __init__(self, steps: list[Step], number: int, shape: Shape) -> None:
        self.steps, self.number, self.shape = steps, number, shape

    def _made(self, method: str, shape: Ints, *given: Any, other: int | None = None) -> Noted:
        first = self.steps[0].number  # the number of operands
        self.steps.append(Step(method, self.number, other, given))
        return Noted(self.steps, first + len(self.steps) - 2, tuple(shape))

    def permute(self, order: Ints) -> Noted:
        if list(order) == list(range(len(self.shape))):
            return self
        return self._made("permute", [self.shape[d] for d in order], tuple(order))

    def reshape(self, shape: Ints) -> Noted:
        return self if tuple(shape) == self.shape else self._made("reshape", shape, tuple(shape))

    def squeeze(self, dims: Ints) -> Noted:
        return self._made("squeeze", [n for d, n in enumerate(self.shape) if d not in dims], tuple(dims))

    def sum(self, dims: Ints) -> Noted:
        return self._made("sum", [n for d, n in enumerate(self.shape) if d not in dims], tuple(dims))

    def diagonal(self, dim1: int, dim2: int) -> Noted:
        kept = [n for d, n in enumerate(self.shape) if d not in (dim1, dim2)]
        return self._made("diagonal", [*kept, min(self.shape[dim1], self.shape[dim2])], 0, dim1, dim2)

    def matmul(self, other: Noted) -> Noted:
        return self._made("matmul", (*self.shape[:-1], other.shape[-1]), other=other.number)

    def __mul__(self, other: Noted) -> Noted:
        return self._made("mul", broadcast_shapes("einsum", [self.shape, other.shape]), other=other.number)

    @property
    def dtype(self) -> None:
        """That of all operands, for steps are those of one floating dtype."""


def steps_of(shapes: Sequence[Shape], carry_out: Callable[[list[Any]], Noted]) -> Steps:
    """The steps that carrying an equation out takes, given what does it for operands of these shapes."""
    steps = [Step("", len(shapes), None, ())]
    result = carry_out([Noted(steps, i, shape) for i, shape in enumerate(shapes)])
    if result.number < len(shapes) or steps[-1].method == "diagonal":  # the result is a view of an operand, turned at last
        result._made("permute", result.shape, tuple(range(len(result.shape))))
    return Steps(tuple(steps[1:]))
