"""Automatic augmentation: the operations of `transforms.autoaugment` on the one picture or film of a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.autograd import pytree
from tenfold.vision.transforms import autoaugment as plain, draws
from tenfold.vision.transforms.augment_operations import Magnitudes, Space, apply_operation, steps
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.interpolation import InterpolationMode, interpolation_mode
from tenfold.vision.transforms.policies import POLICIES
from tenfold.vision.transforms.tones import bound_of
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import Transform
from tenfold.vision.transforms.v2.samples import PICTURES, check_type
from tenfold.vision.transforms.v2.settings import Fill, Mode, fill_for, fills
from tenfold.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask, TVTensor, Video, wrap


def _solarized(picture: Any, share: float) -> Any:
    return F.solarize(picture, share * (bound_of(picture.dtype) if isinstance(picture, Tensor) else 255.0))


# What changes values goes through version 2's functions, which round otherwise than version 1's.
VALUES: dict[str, Callable[[Any, float], Any]] = {
    "Brightness": lambda picture, magnitude: F.adjust_brightness(picture, 1.0 + magnitude),
    "Color": lambda picture, magnitude: F.adjust_saturation(picture, 1.0 + magnitude),
    "Contrast": lambda picture, magnitude: F.adjust_contrast(picture, 1.0 + magnitude),
    "Sharpness": lambda picture, magnitude: F.adjust_sharpness(picture, 1.0 + magnitude),
    "Posterize": lambda picture, magnitude: F.posterize(picture, bits=int(magnitude)),
    "Solarize": _solarized,
    "AutoContrast": lambda picture, _: F.autocontrast(picture),
    "Equalize": lambda picture, _: F.equalize(picture),
    "Invert": lambda picture, _: F.invert(picture),
}


class _Automatic(Transform):
    def __init__(self, interpolation: Mode = "nearest", fill: Fill = None) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def _augmented(self, picture: Any) -> Any:
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        """The sample with its picture augmented.

        Raises:
            TypeError: it has no picture, or boxes, points or masks, which would not fit it any more.
            ValueError: it has several pictures.
        """
        whole = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = pytree.flatten(whole)
        chosen = self._needs_transform_list(parts)
        found = []
        for place, (part, wanted) in enumerate(zip(parts, chosen, strict=True)):
            if isinstance(part, BoundingBoxes | Mask | KeyPoints):
                raise TypeError(f"Inputs of type {type(part).__name__} are not supported by {type(self).__name__}()")
            if wanted and check_type(part, PICTURES):
                found.append(place)
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise ValueError(
                f"Auto augment transformations are only properly defined for a single image or video, but found {len(found)}."
            )
        parts[found[0]] = self._augmented(parts[found[0]])
        return pytree.unflatten(parts, spec)

    def _done(self, picture: Any, name: str, magnitude: float) -> Any:
        """One operation on the picture."""
        if name in VALUES:
            return VALUES[name](picture, magnitude)
        fill = fill_for(self._fill, picture)
        value = picture.as_subclass(Tensor) if isinstance(picture, TVTensor) else picture
        method = interpolation_of(type(self).__name__, self.interpolation)
        result = apply_operation(value, name, magnitude, method, fill)
        return wrap(result, like=picture) if isinstance(picture, TVTensor) else result


def interpolation_of(operator: str, value: Mode) -> InterpolationMode:
    """The mode, which may be given by its name."""
    return InterpolationMode(value.lower()) if isinstance(value, str) else interpolation_mode(operator, value)


def _of_shares(space: Space) -> Space:
    """Solarization's thresholds as shares of white, for bytes and floats alike."""
    bytes_, signed = space["Solarize"]
    return {**space, "Solarize": (steps(1.0, 0.0, len(bytes_)), signed)}


def _drawn(space: Space) -> tuple[str, Magnitudes]:
    name = list(space)[draws.below(len(space))]
    return name, space[name]


def _signed(magnitude: float, signed: bool) -> float:
    return -magnitude if signed and bool(tenfold.rand(()) <= 0.5) else magnitude


class AutoAugment(_Automatic):
    """One of a policy's twenty-five pairs of operations, drawn for each sample.

    Source: E. D. Cubuk and others, AutoAugment: Learning Augmentation Strategies from Data, arXiv:1805.09501.
    """

    get_params = staticmethod(plain.AutoAugment.get_params)

    def __init__(
        self,
        policy: plain.AutoAugmentPolicy = plain.AutoAugmentPolicy.IMAGENET,
        interpolation: Mode = "nearest",
        fill: Fill = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not isinstance(policy, plain.AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy
        self._policies = POLICIES[policy.value]

    def _augmented(self, picture: Any) -> Any:
        height, width = F.get_size(picture)
        space = _of_shares(plain.AutoAugment._augmentation_space(10, (height, width)))
        for name, probability, step in self._policies[draws.below(len(self._policies))]:
            if not bool(tenfold.rand(()) <= probability):
                continue
            magnitudes, signed = space[name]
            magnitude = float(magnitudes[step].item()) if step is not None else 0.0
            picture = self._done(picture, name, _signed(magnitude, signed))
        return picture


class RandAugment(_Automatic):
    """``num_ops`` operations, all of the same strength ``magnitude`` out of ``num_magnitude_bins``.

    Source: E. D. Cubuk, B. Zoph, J. Shlens, Q. V. Le, RandAugment, arXiv:1909.13719.
    """

    def __init__(
        self,
        num_ops: Any = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Mode = "nearest",
        fill: Fill = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not isinstance(num_ops, int) or num_ops < 0:
            raise ValueError(f"num_ops should be a non-negative integer, but got {num_ops} instead.")
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, picture: Any) -> Any:
        height, width = F.get_size(picture)
        space = _of_shares(plain.RandAugment._augmentation_space(self.num_magnitude_bins, (height, width)))
        for _ in range(self.num_ops):
            name, (magnitudes, signed) = _drawn(space)
            magnitude = float(magnitudes[self.magnitude].item()) if magnitudes.ndim > 0 else 0.0
            picture = self._done(picture, name, _signed(magnitude, signed))
        return picture


class TrivialAugmentWide(_Automatic):
    """One operation, of a strength drawn from a wide range.

    Source: S. G. Müller, F. Hutter, TrivialAugment, arXiv:2103.10158.
    """

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Mode = "nearest", fill: Fill = None) -> None:
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, picture: Any) -> Any:
        name, (magnitudes, signed) = _drawn(_of_shares(plain.TrivialAugmentWide._augmentation_space(self.num_magnitude_bins)))
        magnitude = 0.0
        if magnitudes.ndim > 0:
            magnitude = float(magnitudes[draws.below(self.num_magnitude_bins)].item())
        return self._done(picture, name, _signed(magnitude, signed))


class AugMix(_Automatic):
    """A random mixture of the picture and of ``mixture_width`` chains of operations on it; see `transforms.AugMix`.

    Source: D. Hendrycks and others, AugMix, arXiv:1912.02781.
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Mode = "bilinear",
        fill: Fill = None,
    ) -> None:
        super().__init__(interpolation, fill)
        plain.AugMix(severity)  # refuses what is out of range
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _augmented(self, picture: Any) -> Any:
        height, width = F.get_size(picture)
        pixels = F.pil_to_tensor(picture) if is_pil_image(picture) else picture
        values = pixels.as_subclass(Tensor) if isinstance(pixels, TVTensor) else pixels
        batch = values.reshape([1] * max((5 if isinstance(picture, Video) else 4) - values.ndim, 0) + list(values.shape))
        space = _of_shares(plain.AugMix._augmentation_space(plain.AugMix.STRONGEST, (height, width), self.all_ops))
        count = batch.shape[0]
        ones = [count] + [1] * (batch.ndim - 1)
        dirichlet = tenfold._sample_dirichlet  # type: ignore[attr-defined]
        share = dirichlet(tenfold.tensor([self.alpha] * 2).expand(count, -1))  # of the picture, of the chains
        shares = dirichlet(tenfold.tensor([self.alpha] * self.mixture_width).expand(count, -1)) * share[:, 1].reshape(count, -1)
        mix = share[:, 0].reshape(ones) * batch
        for place in range(self.mixture_width):
            mix = mix + shares[:, place].reshape(ones) * self._chain(batch, space)
        mixed = mix.reshape(values.shape).to(values.dtype)
        if isinstance(pixels, TVTensor):
            return wrap(mixed, like=pixels)
        return F.to_pil_image(mixed) if is_pil_image(picture) else mixed

    def _chain(self, batch: Tensor, space: Space) -> Tensor:
        depth = self.chain_depth if self.chain_depth > 0 else int(tenfold.randint(low=1, high=4, size=(1,)))
        for _ in range(depth):
            name, (magnitudes, signed) = _drawn(space)
            magnitude = 0.0
            if magnitudes.ndim > 0:
                magnitude = float(magnitudes[draws.below(self.severity)].item())
            batch = self._done(batch, name, _signed(magnitude, signed))
        return batch
