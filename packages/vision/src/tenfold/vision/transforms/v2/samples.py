"""What a sample holds: pictures, boxes and points among whatever else it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.v2.functional import get_dimensions, get_size, is_pure_tensor
from tenfold.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, Video

Check = type | Callable[[Any], bool]
PICTURES: tuple[Check, ...] = (is_pure_tensor, Image, is_pil_image, Video)


def check_type(obj: Any, types_or_checks: Sequence[Check]) -> bool:
    """Whether it is of one of these types, or one of these checks says yes.

    >>> check_type(3, (str, lambda value: value > 2))
    True
    """
    return any(isinstance(obj, check) if isinstance(check, type) else check(obj) for check in types_or_checks)


def has_any(flat_inputs: Sequence[Any], *types_or_checks: Check) -> bool:
    """Whether some part is of one of these types."""
    return any(check_type(part, types_or_checks) for part in flat_inputs)


def has_all(flat_inputs: Sequence[Any], *types_or_checks: Check) -> bool:
    """Whether each of these types has a part of it."""
    return all(has_any(flat_inputs, check) for check in types_or_checks)


def _only(kind: str, found: set[Any]) -> Any:
    if not found:
        raise TypeError(f"No {kind} was found in the sample")
    if len(found) > 1:
        raise ValueError(f"Found multiple {kind} in the sample: {sorted(found)}; all of its parts should agree")
    return next(iter(found))


def query_size(flat_inputs: Sequence[Any]) -> tuple[int, int]:
    """The height and width that all parts of the sample share.

    Raises:
        TypeError: there is no picture, film, mask, box or point.
        ValueError: they have different sizes.
    """
    sized = (*PICTURES, Mask, BoundingBoxes, KeyPoints)
    height, width = _only("image, video, mask, bounding box or keypoint", _sizes(flat_inputs, sized, get_size))
    return height, width


def query_chw(flat_inputs: Sequence[Any]) -> tuple[int, int, int]:
    """The channels, height and width that all pictures of the sample share.

    Raises:
        TypeError: there is no picture.
        ValueError: they have different sizes.
    """
    channels, height, width = _only("image or video", _sizes(flat_inputs, PICTURES, get_dimensions))
    return channels, height, width


def _sizes(flat_inputs: Sequence[Any], checks: Sequence[Check], ask: Callable[[Any], list[int]]) -> set[tuple[int, ...]]:
    return {tuple(ask(part)) for part in flat_inputs if check_type(part, checks)}


def _one(flat_inputs: Sequence[Any], kind: type[Tensor]) -> Any:
    found = [part for part in flat_inputs if isinstance(part, kind)]
    if not found:
        raise ValueError(f"No {kind.__name__} were found in the sample")
    return found[0]


def get_bounding_boxes(flat_inputs: Sequence[Any]) -> BoundingBoxes:
    """The sample's first boxes.

    Raises:
        ValueError: there are none.
    """
    return _one(flat_inputs, BoundingBoxes)  # type: ignore[no-any-return]


def get_keypoints(flat_inputs: Sequence[Any]) -> KeyPoints:
    """The sample's first key points.

    Raises:
        ValueError: there are none.
    """
    return _one(flat_inputs, KeyPoints)  # type: ignore[no-any-return]
