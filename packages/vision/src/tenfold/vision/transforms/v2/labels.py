"""Where a sample has its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenfold import Tensor

Getter = Callable[[Any], Any]


def labels_of(sample: Any) -> Any:
    """What a dictionary, or the second part of a tuple, has under "labels", "label" or a name that begins so.

    >>> labels_of(("picture", {"boxes": 1, "labels": 2}))
    2

    Raises:
        ValueError: there is nothing under such a name.
    """
    if isinstance(sample, tuple | list):
        sample = sample[1]
    if isinstance(sample, Tensor):
        return sample
    if not isinstance(sample, Mapping):
        raise ValueError(
            f"labels_getter='default' looks into a dictionary, or for labels as the second of a tuple; the sample has "
            f"{type(sample).__name__}: pass a labels_getter"
        )
    named = [key for key in sample if isinstance(key, str)]
    exact = next((key for key in named if key.lower() == "labels"), None)
    found = exact if exact is not None else next((key for key in named if "label" in key.lower()), None)
    if found is None:
        raise ValueError(
            f"labels_getter='default' finds no key with 'label' among {list(sample)}: pass a labels_getter, or None without them"
        )
    return sample[found]


def getter_of(operator: str, labels_getter: Getter | str | None) -> Getter:
    """The function for what a user gave: one of his own, "default", or None for no labels.

    Raises:
        ValueError: it is none of these.
    """
    if labels_getter == "default":
        return labels_of
    if callable(labels_getter):
        return labels_getter
    if labels_getter is None:
        return lambda _: None
    raise ValueError(f"{operator}: labels_getter should be 'default', a callable or None, got {labels_getter!r}")
