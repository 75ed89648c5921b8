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
    """One checkpoint: a file whose name ends with the first digits of its SHA-256, how pictures are prepared for it, and what
    is known of it.

    ``transforms()`` makes the preparation; ``meta`` has "categories" (the names of the classes), "num_params", "min_size" of a
    picture and more.
    """

    url: str
    transforms: Callable[..., Any]
    meta: dict[str, Any]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"  # the classes would fill a page

    @property
    def num_classes(self) -> int:
        """How many classes the checkpoint tells apart."""
        return len(self.meta["categories"])


class WeightsEnum(Enum):
    """The checkpoints of one model; ``DEFAULT`` is the best of them.

    A file is fetched once, into ``checkpoints`` below the folder ``TENFOLD_HOME`` (``~/.cache/tenfold``).
    """

    @property
    def url(self) -> str:
        return str(self.value.url)

    @property
    def transforms(self) -> Callable[..., Any]:
        """Called, with other values than the usual where wanted, it makes the preparation of pictures for this checkpoint."""
        made: Callable[..., Any] = self.value.transforms
        return made

    @property
    def meta(self) -> dict[str, Any]:
        """What is known of the checkpoint: "categories", "num_params", "min_size", "_metrics" and more."""
        return dict(self.value.meta)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr, (type(self), self.name)  # not by value, which holds functions

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


def with_weights(
    make: Callable[..., Model],
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
    rename: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Model:
    """The model that `make` makes with these options, with a checkpoint's parameters unless `weights` is None.

    ``rename`` gives an old checkpoint's parameters their present names.

    Raises:
        ValueError: another number of classes than the checkpoint tells apart.
    """
    chosen = catalog.verify(weights)
    if chosen is None:
        return make(**options)
    require(options, "num_classes", chosen.value.num_classes)
    model = make(**options)
    model.load_state_dict(rename(chosen.get_state_dict(progress=progress, check_hash=True)))
    return model


def require(options: dict[str, Any], name: str, value: Any) -> None:
    """Set an option that a checkpoint decides.

    Raises:
        ValueError: it is given with another value.
    """
    if options.setdefault(name, value) != value:
        raise ValueError(
            f"The parameter '{name}' expected value {value} but got {options[name]} instead; replace the last layer later"
        )
