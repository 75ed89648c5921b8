"""Augmentation by policies that were searched for (AutoAugment), or drawn at random (RandAugment, TrivialAugment, AugMix)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.transforms import draws
from tenfold.vision.transforms.augment_operations import (
    NONE,
    Magnitudes,
    Space,
    apply_operation,
    enhancing,
    geometric,
    toning,
)
from tenfold.vision.transforms.conversion import Picture, get_dimensions, pil_to_tensor, to_pil_image
from tenfold.vision.transforms.interpolation import InterpolationMode
from tenfold.vision.transforms.policies import POLICIES
from tenfold.vision.transforms.retouch import fill_of

SHIFT = 150.0 / 331.0  # the papers' 150 pixels of their pictures' 331


class AutoAugmentPolicy(Enum):
    """The data sets for which AutoAugment's policies were searched."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def _signed(magnitude: float, signed: bool) -> float:
    return -magnitude if signed and draws.below(2) else magnitude


class _Augmentation(nn.Module):
    def __init__(self, interpolation: InterpolationMode, fill: Sequence[float] | None, *settings: str) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._settings = settings

    def _apply(self, img: Picture, name: str, magnitude: float, fill: Any) -> Picture:  # type: ignore[override]
        return apply_operation(img, name, magnitude, self.interpolation, fill)

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in (*self._settings, "fill")]
        return f"{type(self).__name__}({', '.join(parts)})"


class AutoAugment(_Augmentation):
    """One of a policy's twenty-five pairs of operations, drawn for each call. Tensors are uint8.

    Source: E. D. Cubuk and others, AutoAugment: Learning Augmentation Strategies from Data, arXiv:1805.09501.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill, "policy")
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized; AutoAugmentPolicy has those that are")
        self.policy = policy
        self.policies = POLICIES[policy.value]

    @staticmethod
    def _augmentation_space(num_bins: int, image_size: tuple[int, int]) -> Space:
        moves = geometric(num_bins, 0.3, SHIFT * image_size[1], SHIFT * image_size[0], 30.0)
        return {**moves, **enhancing(num_bins, 0.9), **toning(num_bins, 8, 4), "Invert": NONE}

    @staticmethod
    def get_params(transform_num: int) -> tuple[int, Tensor, Tensor]:
        """Draw the pair, whether each of its two happens, and their signs."""
        return draws.below(transform_num), tenfold.rand((2,)), tenfold.randint(2, (2,))

    def forward(self, img: Picture) -> Picture:
        fill = fill_of(self.fill, img)
        _, height, width = get_dimensions(img)
        number, chances, signs = self.get_params(len(self.policies))
        space = self._augmentation_space(10, (height, width))
        for i, (name, probability, step) in enumerate(self.policies[number]):
            if float(chances[i]) <= probability:
                magnitudes, signed = space[name]
                magnitude = float(magnitudes[step].item()) if step is not None else 0.0
                img = self._apply(img, name, -magnitude if signed and int(signs[i]) == 0 else magnitude, fill)
        return img


class RandAugment(_Augmentation):
    """``num_ops`` operations, all of the same strength ``magnitude`` out of ``num_magnitude_bins``. Tensors are uint8.

    Source: E. D. Cubuk, B. Zoph, J. Shlens, Q. V. Le, RandAugment, arXiv:1909.13719.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill, "num_ops", "magnitude", "num_magnitude_bins", "interpolation")
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    @staticmethod
    def _augmentation_space(num_bins: int, image_size: tuple[int, int]) -> Space:
        moves = geometric(num_bins, 0.3, SHIFT * image_size[1], SHIFT * image_size[0], 30.0)
        return {"Identity": NONE, **moves, **enhancing(num_bins, 0.9), **toning(num_bins, 8, 4)}

    def forward(self, img: Picture) -> Picture:
        fill = fill_of(self.fill, img)
        _, height, width = get_dimensions(img)
        space = self._augmentation_space(self.num_magnitude_bins, (height, width))
        for _ in range(self.num_ops):
            name = list(space)[draws.below(len(space))]
            magnitudes, signed = space[name]
            magnitude = float(magnitudes[self.magnitude].item()) if magnitudes.ndim > 0 else 0.0
            img = self._apply(img, name, _signed(magnitude, signed), fill)
        return img


class TrivialAugmentWide(_Augmentation):
    """One operation, of a strength drawn from a wide range. Tensors are uint8.

    Source: S. G. Müller, F. Hutter, TrivialAugment, arXiv:2103.10158.
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill, "num_magnitude_bins", "interpolation")
        self.num_magnitude_bins = num_magnitude_bins

    @staticmethod
    def _augmentation_space(num_bins: int) -> Space:
        moves = geometric(num_bins, 0.99, 32.0, 32.0, 135.0)
        return {"Identity": NONE, **moves, **enhancing(num_bins, 0.99), **toning(num_bins, 8, 6)}

    def forward(self, img: Picture) -> Picture:
        space = self._augmentation_space(self.num_magnitude_bins)
        name = list(space)[draws.below(len(space))]
        magnitudes, signed = space[name]
        magnitude = float(magnitudes[draws.below(len(magnitudes))].item()) if magnitudes.ndim > 0 else 0.0
        return self._apply(img, name, _signed(magnitude, signed), fill_of(self.fill, img))


class AugMix(_Augmentation):
    """A random mixture of the picture and of ``mixture_width`` chains of operations on it. Tensors are uint8.

    ``chain_depth`` is the length of the chains, at -1 drawn from 1 to 3; ``severity`` is of 1 to 10; ``alpha`` is the
    parameter of the distributions of the shares.

    Source: D. Hendrycks and others, AugMix, arXiv:1912.02781.
    """

    STRONGEST = 10

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        fill: Sequence[float] | None = None,
    ) -> None:
        names = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation")
        super().__init__(interpolation, fill, *names)
        if not 1 <= severity <= self.STRONGEST:
            raise ValueError(f"The severity must be between [1, {self.STRONGEST}]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    @staticmethod
    def _augmentation_space(num_bins: int, image_size: tuple[int, int], all_ops: bool = True) -> Space:
        moves = geometric(num_bins, 0.3, image_size[1] / 3.0, image_size[0] / 3.0, 30.0)
        space = {**moves, **toning(num_bins, 4, 4)}
        return {**space, **enhancing(num_bins, 0.9)} if all_ops else space

    def _chain(self, img: Tensor, space: Space, fill: Any) -> Tensor:
        depth = self.chain_depth if self.chain_depth > 0 else int(tenfold.randint(1, 4, (1,)).item())
        for _ in range(depth):
            name = list(space)[draws.below(len(space))]
            img = self._apply(img, name, self._strength(space[name]), fill)
        return img

    def _strength(self, magnitudes: Magnitudes) -> float:
        steps, signed = magnitudes
        return _signed(float(steps[draws.below(self.severity)].item()) if steps.ndim > 0 else 0.0, signed)

    def forward(self, img: Picture) -> Picture:
        _, height, width = get_dimensions(img)
        pixels = img if isinstance(img, Tensor) else pil_to_tensor(img)
        fill = fill_of(self.fill, pixels)
        space = self._augmentation_space(self.STRONGEST, (height, width), self.all_ops)
        batch = pixels.view([1] * max(4 - pixels.ndim, 0) + list(pixels.shape))
        count = batch.shape[0]
        ones = [count] + [1] * (batch.ndim - 1)
        dirichlet = tenfold._sample_dirichlet  # type: ignore[attr-defined]
        share = dirichlet(tenfold.tensor([self.alpha] * 2).expand(count, -1))  # of the picture, of the chains
        shares = dirichlet(tenfold.tensor([self.alpha] * self.mixture_width).expand(count, -1))
        shares = shares * share[:, 1].view(count, -1)
        mix = share[:, 0].view(ones) * batch
        for i in range(self.mixture_width):
            mix = mix + shares[:, i].view(ones) * self._chain(batch, space, fill)
        mixed = mix.view(pixels.shape).to(pixels.dtype)
        return mixed if isinstance(img, Tensor) else to_pil_image(mixed)
