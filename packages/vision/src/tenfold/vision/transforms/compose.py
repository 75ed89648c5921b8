"""Transforms made of other transforms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tenfold import nn
from tenfold.vision.transforms import draws

Step = Callable[[Any], Any]


class Compose:
    """Apply several transforms one after the other.

    >>> Compose([abs, str])(-3)
    '3'
    """

    def __init__(self, transforms: Sequence[Step]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for step in self.transforms:
            img = step(img)
        return img

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {step}" for step in self.transforms), ")"])


class Lambda:
    """Apply a function of the user's.

    Raises:
        TypeError: it cannot be called.
    """

    def __init__(self, lambd: Step) -> None:
        if not callable(lambd):
            raise TypeError(f"Lambda: Argument lambd should be callable, got {type(lambd).__name__}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomApply(nn.Module):
    """Apply all of ``transforms`` with probability ``p``, else none."""

    def __init__(self, transforms: Sequence[Step] | nn.ModuleList, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img: Any) -> Any:
        if not draws.happens(self.p):
            return img
        for step in self.transforms:
            img = step(img)
        return img

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", f"    p={self.p}", *(f"    {step}" for step in self.transforms), ")"])


class RandomOrder:
    """Apply all of ``transforms`` in an order drawn from Python's `random`."""

    def __init__(self, transforms: Sequence[Step]) -> None:
        self.transforms = _sequence(type(self).__name__, transforms)

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for index in order:
            img = self.transforms[index](img)
        return img

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {step}" for step in self.transforms), ")"])


class RandomChoice:
    """Apply one of ``transforms``, drawn from Python's `random` with the weights ``p``."""

    def __init__(self, transforms: Sequence[Step], p: Sequence[float] | None = None) -> None:
        self.transforms = _sequence(type(self).__name__, transforms)
        self.p = p

    def __call__(self, img: Any) -> Any:
        return random.choices(self.transforms, weights=self.p)[0](img)

    def __repr__(self) -> str:
        steps = [f"    {step}" for step in self.transforms]
        return "\n".join([f"{type(self).__name__}(", *steps, ")"]) + f"(p={self.p})"


def _sequence(name: str, transforms: Any) -> Sequence[Step]:
    if not isinstance(transforms, Sequence):
        raise TypeError(f"{name}: Argument transforms should be a sequence, got {type(transforms).__name__}")
    return transforms
