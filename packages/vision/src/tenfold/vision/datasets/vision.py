"""The base of every image dataset: where its files are, and what happens to an image and its target."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.data import Dataset

Transform = Callable[[Any], Any]
PairTransform = Callable[[Any, Any], tuple[Any, Any]]


class VisionDataset(Dataset[Any]):
    """A dataset of images below the folder ``root``.

    Give either ``transforms`` (called with image and target, returns both) or ``transform`` and ``target_transform``
    (each called with its own).

    Raises:
        ValueError: ``transforms`` was given together with one of the other two.
    """

    _repr_indent = 4

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        transforms: PairTransform | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError(
                f"{type(self).__name__}: got transforms together with transform or target_transform; pass only one of them"
            )
        self.root = Path(root).expanduser() if isinstance(root, str) else root
        self.transform = transform
        self.target_transform = target_transform
        pairwise = transform is not None or target_transform is not None
        self.transforms = StandardTransform(transform, target_transform) if pairwise else transforms

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(index), which returns one sample")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__(), the number of samples")

    def _transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        return self.transforms(image, target) if self.transforms is not None else (image, target)

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines.append(repr(self.transforms))
        return "\n".join([f"Dataset {type(self).__name__}", *(" " * self._repr_indent + line for line in lines)])

    def extra_repr(self) -> str:
        """More lines for the repr; a subclass that has a split names it here."""
        return ""


class StandardTransform:
    """Apply one function to the image and another to the target.

    >>> StandardTransform(str, abs)(1, -2)
    ('1', 2)
    """

    def __init__(self, transform: Transform | None = None, target_transform: Transform | None = None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        image = self.transform(input) if self.transform is not None else input
        return image, self.target_transform(target) if self.target_transform is not None else target

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for head, part in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if part is not None:
                lines += (head + repr(part)).replace("\n", "\n" + " " * len(head)).splitlines()
        return "\n".join(lines)
