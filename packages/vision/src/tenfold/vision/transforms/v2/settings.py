"""What users give to transforms, brought to one form: sizes, fills for each kind of thing, angles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.vision.transforms import geometry
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.interpolation import InterpolationMode

Fill = Any  # a number, one for each channel, None, or a dictionary of these for each type and "others"
Size = int | Sequence[int]
Mode = InterpolationMode | str | int


def two_sizes(operator: str, size: Any) -> tuple[int, int]:
    """Height and width.

    Raises:
        TypeError: it is no number or sequence.
        ValueError: it has neither one nor two numbers.
    """
    if not isinstance(size, int | Sequence):
        raise TypeError(f"{operator}: size should be an integer or a sequence of integers, got {type(size)}")
    return geometry.pair(operator, size)


def fills(fill: Fill) -> dict[Any, Any]:
    """The fill for each type, "others" for those not named.

    Raises:
        TypeError: one is no number or sequence.
    """
    if isinstance(fill, dict):
        return {kind: _checked(value) for kind, value in fill.items()}
    return {"others": _checked(fill)}


def _checked(fill: Any) -> Any:
    if fill is not None and not isinstance(fill, int | float | tuple | list):
        raise TypeError(f"Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed: {fill!r}")
    return [float(value) for value in fill] if isinstance(fill, tuple | list) else fill


def fill_for(chosen: dict[Any, Any], inpt: Any) -> Any:
    """The fill for a thing of this type.

    Raises:
        ValueError: there is neither one for it nor for others.
    """
    if type(inpt) in chosen:
        found = chosen[type(inpt)]
    elif "others" in chosen:
        found = chosen["others"]
    else:
        kinds = [getattr(kind, "__name__", kind) for kind in chosen]
        raise ValueError(f"This transform has no fill for {type(inpt).__name__}, only for {kinds}; add the key 'others'")
    if is_pil_image(inpt) and isinstance(found, list):  # Pillow wants whole numbers
        return [int(value) for value in found]
    return found


def two_numbers(operator: str, name: str, value: Any) -> list[float]:
    """Two floats, from one for both or a sequence of one or two.

    Raises:
        TypeError: it is no number or sequence.
        ValueError: the sequence has another length.
    """
    if not isinstance(value, int | float | list | tuple):
        raise TypeError(f"{operator}: {name} should be a number or a sequence of numbers. Got {type(value)}")
    numbers = [value] if isinstance(value, int | float) else list(value)
    if len(numbers) not in (1, 2):
        raise ValueError(f"{operator}: If {name} is a sequence its length should be 1 or 2. Got {len(numbers)}")
    return [float(numbers[0]), float(numbers[-1])]
