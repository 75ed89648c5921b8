"""Models by name: `list_models`, `get_model` and the checkpoints of each."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar

from tenfold import nn
from tenfold.vision.models.weights import WeightsEnum

Build = TypeVar("Build", bound=Callable[..., nn.Module])
ROOMS = ("detection", "optical_flow", "quantization", "segmentation", "video")  # the folders of models beside the classifiers
BUILDERS: dict[str, Callable[..., nn.Module]] = {}
CATALOGS: dict[str, type[WeightsEnum]] = {}


def model(
    catalog: type[WeightsEnum] | None = None,
    backbone: WeightsEnum | None = None,
    name: str | None = None,
    former: type[WeightsEnum] | None = None,
) -> Callable[[Build], Build]:
    """Register a function that builds a model under its own name, or another, with its checkpoints.

    The function also takes torchvision's former arguments: ``pretrained=True`` (and ``pretrained_backbone=True``), or weights
    given by position; both with a warning. ``backbone`` is the checkpoint that ``pretrained_backbone`` stands for, ``former`` has
    those that ``pretrained`` stands for where they are not the model's.
    """

    def register(build: Build) -> Build:
        called = build.__name__ if name is None else name
        if called in BUILDERS:
            raise ValueError(f"An entry is already registered under the name '{called}'.")

        @functools.wraps(build)
        def builder(*args: Any, **kwargs: Any) -> nn.Module:
            if catalog is not None and (args or "pretrained" in kwargs or "pretrained_backbone" in kwargs):
                kwargs = _as_of_today(called, former or catalog, backbone, args, kwargs)
                args = ()
            return build(*args, **kwargs)

        BUILDERS[called] = builder
        if catalog is not None:
            CATALOGS[called] = catalog
        return builder  # type: ignore[return-value]

    return register


def _as_of_today(
    name: str, catalog: type[WeightsEnum], backbone: WeightsEnum | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of before checkpoints had names, as they are given now."""
    given = dict(kwargs)
    positional = ("weights", "progress")
    if len(args) > len(positional):
        raise TypeError(f"{name}: takes at most {len(positional)} positional arguments, got {len(args)}; name the others")
    given.update(zip(positional, args, strict=False))
    if isinstance(given.get("weights"), bool):
        given["pretrained"] = given.pop("weights")
    for former, now, best in (
        ("pretrained", "weights", catalog["DEFAULT"]),
        ("pretrained_backbone", "weights_backbone", backbone),
    ):
        if former in given:
            given[now] = best if given.pop(former) else None
            warnings.warn(f"{name}: the parameter '{former}' is deprecated; use '{now}={given[now]}'", UserWarning, stacklevel=3)
    return given


def _all() -> dict[str, Callable[..., nn.Module]]:
    """The builders of every room, which registers them as it is imported."""
    for room in ("", *ROOMS):  # by name, since they import this module
        importlib.import_module(f"{__package__}.{room}".rstrip("."))
    return BUILDERS


def list_models(
    module: ModuleType | None = None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """The names of models, sorted; those of one module alone, or those that match patterns with ``*`` and ``?``.

    >>> list_models(include="resnet*", exclude=["*101", "*152"])
    ['resnet18', 'resnet34', 'resnet50']
    """
    names = {name for name, build in _all().items() if module is None or build.__module__.rpartition(".")[0] == module.__name__}
    if include:
        names &= {name for pattern in _patterns(include) for name in fnmatch.filter(names, pattern)}
    if exclude:
        names -= {name for pattern in _patterns(exclude) for name in fnmatch.filter(names, pattern)}
    return sorted(names)


def _patterns(given: Iterable[str] | str) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def get_model_builder(name: str) -> Callable[..., nn.Module]:
    """The function that builds the model of this name.

    Raises:
        ValueError: there is none.
    """
    try:
        return _all()[name.lower()]
    except KeyError:
        raise ValueError(f"Unknown model {name}; list_models() names those that there are") from None


def get_model(name: str, **config: Any) -> nn.Module:
    """The model of this name, built with these arguments.

    >>> sum(p.numel() for p in get_model("squeezenet1_1", num_classes=10).parameters())
    727626

    Raises:
        ValueError: there is none.
    """
    return get_model_builder(name)(**config)


def get_model_weights(name: Callable[..., nn.Module] | str) -> type[WeightsEnum]:
    """The checkpoints of the model with this name or function.

    >>> [member.name for member in get_model_weights("resnet50")]
    ['IMAGENET1K_V1', 'IMAGENET1K_V2']

    Raises:
        ValueError: there is no such model, or it has no checkpoints.
    """
    build = get_model_builder(name) if isinstance(name, str) else name
    catalog = next((CATALOGS.get(called) for called, known in BUILDERS.items() if known is build), None)
    if catalog is None:
        raise ValueError(f"get_model_weights: no published checkpoints are known for {name!r}")
    return catalog


def get_weight(name: str) -> WeightsEnum:
    """The checkpoint of this full name.

    >>> get_weight("ResNet50_Weights.IMAGENET1K_V2").meta["num_params"]
    25557032

    Raises:
        ValueError: no model has checkpoints of that name.
        KeyError: the model has no such checkpoint.
    """
    _all()
    family, _, member = name.partition(".")
    for catalog in CATALOGS.values():
        if catalog.__name__ == family:
            return catalog[member]
    raise ValueError(f"The weight enum '{family}' for the specific method couldn't be retrieved.")
