"""Batches mixed with themselves, picture by picture, and their labels with them."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.autograd import pytree
from tenfold.nn.functional import one_hot
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import Transform
from tenfold.vision.transforms.v2.labels import Getter, getter_of
from tenfold.vision.transforms.v2.samples import has_any, query_size
from tenfold.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video, wrap


class _Mixing(Transform):
    """A share drawn from Beta(alpha, alpha) stays; the rest comes from the picture before, the last one for the first."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Getter | str = "default") -> None:
        super().__init__()
        self.alpha = float(alpha)
        self._shape = tenfold.tensor([[alpha, alpha]], dtype=tenfold.float32)
        self.num_classes = num_classes
        self._labels_getter = getter_of(type(self).__name__, labels_getter)

    def _share(self) -> float:
        # The two shares of a Dirichlet distribution are a Beta distribution's.
        return float(tenfold._sample_dirichlet(self._shape)[0, 0])  # type: ignore[attr-defined]

    def forward(self, *inputs: Any) -> Any:
        """The batch mixed.

        Raises:
            ValueError: it has what cannot be mixed, or its labels are no tensor (B,) or (B, classes).
        """
        whole = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = pytree.flatten(whole)
        if has_any(parts, is_pil_image, BoundingBoxes, Mask, KeyPoints):
            raise ValueError(
                f"{type(self).__name__}: a batch of tensors and its labels can be mixed; this sample also has PIL images, "
                "bounding boxes, key points or masks"
            )
        labels = self._labels_getter(whole)
        self._check_labels(labels)
        pictures = [part for part, wanted in zip(parts, self._needs_transform_list(parts), strict=True) if wanted]
        params = self.make_params(pictures)
        params.update(labels=labels, batch_size=len(labels))
        mixed = {id(part) for part in (*pictures, labels)}
        return pytree.unflatten([self.transform(part, params) if id(part) in mixed else part for part in parts], spec)

    def _check_labels(self, labels: Any) -> None:
        given, forms = type(self).__name__, "labels of shape (B,), which say the class, or (B, classes), which give shares"
        if not isinstance(labels, Tensor):
            raise ValueError(f"{given}: expected {forms}, got {type(labels).__name__}")
        match labels.ndim, self.num_classes:
            case 1, None:
                raise ValueError(f"{given}: classes become shares before they are mixed; pass num_classes")
            case 2, int(classes) if labels.shape[-1] != classes:
                raise ValueError(f"{given}: the labels have {labels.shape[-1]} classes where num_classes is {classes}")
            case n, _ if n not in (1, 2):
                raise ValueError(f"{given}: expected {forms}, got the shape {tuple(labels.shape)}")

    def _mixed_picture(self, picture: Tensor, params: dict[str, Any]) -> Tensor:
        raise NotImplementedError

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part mixed.

        Raises:
            ValueError: it is no batch of as many pictures as labels.
        """
        if inpt is params["labels"]:
            labels = one_hot(inpt, num_classes=self.num_classes) if inpt.ndim == 1 else inpt
            labels = labels if labels.is_floating_point() else labels.float()
            return _mixed(labels, params["lam"])
        if not F.is_pure_tensor(inpt) and not isinstance(inpt, Image | Video):
            return inpt
        wanted = 5 if isinstance(inpt, Video) else 4
        if inpt.ndim != wanted or inpt.shape[0] != params["batch_size"]:
            raise ValueError(
                f"{type(self).__name__}: expected a batch of {params['batch_size']}, as many as labels, with {wanted} "
                f"dimensions, got the shape {tuple(inpt.shape)}"
            )
        plain = inpt.as_subclass(Tensor) if isinstance(inpt, TVTensor) else inpt
        result = self._mixed_picture(plain, params)
        return wrap(result, like=inpt) if isinstance(inpt, TVTensor) else result


def _mixed(values: Tensor, share: float) -> Tensor:
    return values.roll(1, 0).mul_(1.0 - share).add_(values.mul(share))


class MixUp(_Mixing):
    """Every picture with a share of another: ``lam x_i + (1 - lam) x_(i-1)``, and their labels so.

    Source: H. Zhang and others, mixup: Beyond Empirical Risk Minimization, arXiv:1710.09412.
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the share."""
        return {"lam": self._share()}

    def _mixed_picture(self, picture: Tensor, params: dict[str, Any]) -> Tensor:
        return _mixed(picture, params["lam"])


class CutMix(_Mixing):
    """A rectangle of every picture replaced by that of another, and their labels mixed by the area.

    Source: S. Yun and others, CutMix: Regularization Strategy, arXiv:1905.04899.
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the rectangle, whose share of the area is that of the other picture."""
        share = self._share()
        height, width = query_size(flat_inputs)
        x, y = tenfold.randint(width, size=(1,)).item(), tenfold.randint(height, size=(1,)).item()
        half = 0.5 * math.sqrt(1.0 - share)
        across, down = int(half * width), int(half * height)
        left, right = max(int(x) - across, 0), min(int(x) + across, width)
        top, bottom = max(int(y) - down, 0), min(int(y) + down, height)
        return {"box": (left, top, right, bottom), "lam": 1.0 - (right - left) * (bottom - top) / (width * height)}

    def _mixed_picture(self, picture: Tensor, params: dict[str, Any]) -> Tensor:
        left, top, right, bottom = params["box"]
        result = picture.clone()
        result[..., top:bottom, left:right] = picture.roll(1, 0)[..., top:bottom, left:right]
        return result
