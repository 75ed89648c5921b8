"""Transforms made of transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import nn
from tenfold.vision.transforms.v2.base import Transform

Step = Callable[..., Any]


def _in_turn(steps: Any, inputs: tuple[Any, ...]) -> Any:
    sample = inputs if len(inputs) > 1 else inputs[0]
    for step in steps:
        sample = step(*inputs)
        inputs = sample if len(inputs) > 1 else (sample,)
    return sample


def _required(operator: str, transforms: Any) -> Any:
    if not isinstance(transforms, Sequence | nn.ModuleList):
        raise TypeError(f"{operator}: Argument transforms should be a sequence of callables, got {type(transforms).__name__}")
    return transforms


def _lines(transforms: Any) -> str:
    return "\n".join(f"    {step}" for step in transforms)


class Compose(Transform):
    """One after the other.

    Raises:
        TypeError: ``transforms`` is no sequence.
        ValueError: it is empty.
    """

    def __init__(self, transforms: Sequence[Step]) -> None:
        super().__init__()
        self.transforms = _required("Compose", transforms)
        if not transforms:
            raise ValueError("Compose: Pass at least one transform")

    def forward(self, *inputs: Any) -> Any:
        """The sample through all of them."""
        return _in_turn(self.transforms, inputs)

    def extra_repr(self) -> str:
        """The steps, a line each."""
        return _lines(self.transforms)


class RandomApply(Transform):
    """All of them with probability ``p``, else none.

    Raises:
        TypeError: ``transforms`` is no sequence.
        ValueError: ``p`` is outside 0..1.
    """

    def __init__(self, transforms: Sequence[Step] | nn.ModuleList, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = _required("RandomApply", transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}")
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        """The sample through all or none."""
        if tenfold.rand(1).item() >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return _in_turn(self.transforms, inputs)

    def extra_repr(self) -> str:
        """The steps, a line each."""
        return _lines(self.transforms)


class RandomChoice(Transform):
    """One of them, drawn with the weights ``p``.

    Raises:
        TypeError: ``transforms`` is no sequence.
        ValueError: there are not as many weights.
    """

    def __init__(self, transforms: Sequence[Step], p: list[float] | None = None) -> None:
        super().__init__()
        weights = [1.0] * len(_required("RandomChoice", transforms)) if p is None else p
        if len(weights) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(weights)} != {len(transforms)}")
        self.transforms = transforms
        self.p = [weight / sum(weights) for weight in weights]

    def forward(self, *inputs: Any) -> Any:
        """The sample through the one that was drawn."""
        return self.transforms[int(tenfold.multinomial(tenfold.tensor(self.p), 1))](*inputs)


class RandomOrder(Transform):
    """All of them, in an order that is drawn.

    Raises:
        TypeError: ``transforms`` is no sequence.
    """

    def __init__(self, transforms: Sequence[Step]) -> None:
        super().__init__()
        self.transforms = _required("RandomOrder", transforms)

    def forward(self, *inputs: Any) -> Any:
        """The sample through all of them."""
        order = tenfold.randperm(len(self.transforms)).tolist()
        return _in_turn([self.transforms[place] for place in order], inputs)
