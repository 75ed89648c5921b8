"""Boxes and points: their format, their canvas, and taking out what no longer shows anything."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.autograd import pytree
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import Transform
from tenfold.vision.transforms.v2.labels import Getter, getter_of
from tenfold.vision.transforms.v2.samples import Check, get_bounding_boxes, get_keypoints
from tenfold.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, Mask, TVTensor, wrap
from tenfold.vision.tv_tensors.boxes import CLAMPING_MODES, box_format


class ConvertBoundingBoxFormat(Transform):
    """Boxes in another format."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (BoundingBoxes,)

    def __init__(self, format: BoundingBoxFormat | str) -> None:
        super().__init__()
        self.format = box_format(format)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.convert_bounding_box_format(inpt, new_format=self.format)

    def extra_repr(self) -> str:
        """The format's name."""
        return f"format={self.format.value}"


class ClampBoundingBoxes(Transform):
    """Boxes cut at the edges of their canvas, in their own mode unless another is given."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        super().__init__()
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class SetClampingMode(Transform):
    """How the transforms that follow keep boxes on their canvas: "hard", "soft" or None.

    Raises:
        ValueError: another mode.
    """

    _transformed_types: ClassVar[tuple[Check, ...]] = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None) -> None:
        super().__init__()
        if clamping_mode not in CLAMPING_MODES:
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return wrap(inpt.as_subclass(Tensor).clone(), like=inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(Transform):
    """Points brought to the nearest pixel of their canvas."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (KeyPoints,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.clamp_keypoints(inpt)


class _Sanitize(Transform):
    """Take out what is not valid, with its labels and masks."""

    _follow: ClassVar[tuple[type, ...]] = ()  # beside labels, what is taken out with the things

    def __init__(self, labels_getter: Getter | str | None) -> None:
        super().__init__()
        self.labels_getter = labels_getter
        self._labels_getter = getter_of(type(self).__name__, labels_getter)

    def _kept(self, parts: list[Any]) -> Tensor:
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        """The sample without what is not valid.

        Raises:
            ValueError: labels are no tensors, or not as many as things.
        """
        whole = inputs if len(inputs) > 1 else inputs[0]
        found = self._labels_getter(whole)
        labels = [] if found is None else list(found) if isinstance(found, tuple | list) else [found]
        parts, spec = pytree.flatten(whole)
        kept = self._kept(parts)
        for label in labels:
            if not isinstance(label, Tensor):
                raise ValueError(f"The labels in the input to forward() must be a tensor or None, got {type(label)} instead.")
            if label.shape[0] != kept.shape[0]:
                raise ValueError(
                    f"Number of boxes or points (shape={tuple(kept.shape)}) and the number of labels "
                    f"(shape={tuple(label.shape)}) do not match."
                )
        params = {"kept": kept, "labels": labels}
        return pytree.unflatten([self.transform(part, params) for part in parts], spec)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part without what is not valid."""
        label = any(inpt is one for one in params["labels"])
        if not label and not isinstance(inpt, self._follow):
            return inpt
        result = inpt[params["kept"]]
        return result if label or not isinstance(inpt, TVTensor) else wrap(result, like=inpt)


class SanitizeBoundingBoxes(_Sanitize):
    """Take out boxes smaller than these or beyond their canvas, with their masks and labels.

    Labels are found in a dictionary by a name with "label" in it, or by a function of the sample; None: there are none.

    Raises:
        ValueError: ``min_size`` or ``min_area`` is below 1 where boxes of nothing would stay, or labels do not fit.
    """

    _follow: ClassVar[tuple[type, ...]] = (BoundingBoxes, Mask)

    def __init__(self, min_size: float = 1.0, min_area: float = 1.0, labels_getter: Getter | str | None = "default") -> None:
        if min_size < 1:
            raise ValueError(f"min_size must be >= 1, got {min_size}.")
        if min_area < 1:
            raise ValueError(f"min_area must be >= 1, got {min_area}.")
        super().__init__(labels_getter)
        self.min_size = min_size
        self.min_area = min_area

    def _kept(self, parts: list[Any]) -> Tensor:
        boxes = get_bounding_boxes(parts)
        return F.sanitize_bounding_boxes(boxes, min_size=self.min_size, min_area=self.min_area)[1]

    def extra_repr(self) -> str:
        """The settings."""
        named = f", labels_getter={self.labels_getter}" if isinstance(self.labels_getter, str) else ""
        return f"min_size={self.min_size}, min_area={self.min_area}{named}"


class SanitizeKeyPoints(_Sanitize):
    """Take out points beyond their canvas, with their labels."""

    _follow: ClassVar[tuple[type, ...]] = (KeyPoints,)

    def __init__(self, labels_getter: Getter | str | None = None) -> None:
        super().__init__(labels_getter)

    def _kept(self, parts: list[Any]) -> Tensor:
        return F.sanitize_keypoints(get_keypoints(parts))[1]
