"""Published checkpoints by name: where they are, and how they are fetched and verified."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Self, TypeVar

import tenfold
from tenfold import nn
from tenfold.data.download import download_url
from tenfold.settings.environment import HOME

Model = TypeVar("Model", bound=nn.Module)
BASE_URL = "https://download.pytorch.org/models/"


@dataclasses.dataclass(frozen=True)
class Weights:
    """One checkpoint: a file whose name ends with the first digits of its SHA-256, and the classes it tells apart."""

    url: str
    num_classes: int


class WeightsEnum(Enum):
    """The checkpoints of one model; ``DEFAULT`` is the best of them.

    A file is fetched once, into ``checkpoints`` below the folder ``TENFOLD_HOME`` (``~/.cache/tenfold``).
    """

    @property
    def url(self) -> str:
        return str(self.value.url)

    @classmethod
    def verify(cls, weights: Self | str | None) -> Self | None:
        """The member for itself or for its name; None stays None.

        Raises:
            TypeError: a member of another model's.
            KeyError: no checkpoint of this name.
        """
        if weights is None or isinstance(weights, cls):
            return weights
        if not isinstance(weights, str):
            raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received {type(weights).__name__}.")
        return cls[weights.removeprefix(cls.__name__ + ".")]

    def get_state_dict(self, progress: bool = True, check_hash: bool = True) -> dict[str, Any]:
        """The parameters by name, fetched if need be. ``progress`` is accepted for PyTorch's sake and shows nothing.

        Raises:
            RuntimeError: the file does not have the checksum in its name.
        """
        path = checkpoint_folder() / os.path.basename(self.url)
        download_url(self.url, path.parent)
        expected = path.stem.rpartition("-")[2]
        if check_hash and not hashlib.sha256(path.read_bytes()).hexdigest().startswith(expected):
            path.unlink()
            raise RuntimeError(
                f"{self}: {path.name} does not have the SHA-256 checksum {expected}…; the file was removed, try again"
            )
        return dict(tenfold.load(path, map_location="cpu", weights_only=True))


def checkpoint_folder() -> Path:
    """Where fetched checkpoints are kept."""
    return Path(HOME.read()).expanduser() / "checkpoints"


def imagenet(file: str) -> Weights:
    """A checkpoint trained on ImageNet's thousand classes."""
    return Weights(BASE_URL + file, num_classes=1000)


def with_weights(
    make: Callable[..., Model], catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> Model:
    """The model that `make` makes with these options, with a checkpoint's parameters unless `weights` is None.

    Raises:
        ValueError: another number of classes than the checkpoint tells apart.
    """
    chosen = catalog.verify(weights)
    if chosen is None:
        return make(**options)
    classes = chosen.value.num_classes
    if options.setdefault("num_classes", classes) != classes:
        raise ValueError(
            f"The parameter 'num_classes' expected value {classes} but got {options['num_classes']}; replace the last layer later"
        )
    model = make(**options)
    model.load_state_dict(chosen.get_state_dict(progress=progress, check_hash=True))
    return model
