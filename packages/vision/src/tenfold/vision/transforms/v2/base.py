"""The class that transforms derive from: it finds in a sample what to change, and leaves the rest as it is."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.autograd import pytree
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.v2.functional.dispatching import is_pure_tensor, kernel_for
from tenfold.vision.transforms.v2.samples import Check, check_type, has_any
from tenfold.vision.tv_tensors import Image, Video


class Transform(nn.Module):
    """Change every part of a sample with the same random numbers. Derive from it and define `transform`.

    `make_params` draws once for each sample what `transform` then gets for every part; `check_inputs` may refuse a sample.
    A plain tensor is the picture where it is the first and the sample has no other picture; else it is left alone.

    >>> class Brighter(Transform):
    ...     def make_params(self, flat_inputs):
    ...         return {"by": 2}
    ...     def transform(self, inpt, params):
    ...         return inpt * params["by"]
    >>> Brighter()({"picture": tenfold.ones(1, 1, 2), "name": "a"})
    {'picture': tensor([[[2., 2.]]]), 'name': 'a'}
    """

    _transformed_types: ClassVar[tuple[Check, ...]] = (Tensor, is_pil_image)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raise for a sample that this cannot change."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """What is drawn once for the sample, from the parts that are to be changed."""
        return {}

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        """The function where it knows the part's kind, else the part itself."""
        return kernel_for(functional, type(inpt), inpt, passes=True)(inpt, *args, **kwargs)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed.

        Raises:
            NotImplementedError: the class defines none.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no transform(self, inpt, params)")

    def forward(self, *inputs: Any) -> Any:
        """The sample changed: one argument, or a tuple for several."""
        parts, spec = pytree.flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(parts)
        return pytree.unflatten(self._changed(parts), spec)

    def _changed(self, parts: list[Any]) -> list[Any]:
        chosen = self._needs_transform_list(parts)
        params = self.make_params([part for part, wanted in zip(parts, chosen, strict=True) if wanted])
        return [self.transform(part, params) if wanted else part for part, wanted in zip(parts, chosen, strict=True)]

    def _needs_transform_list(self, flat_inputs: list[Any]) -> list[bool]:
        """For each part whether it is to be changed."""
        plain_left = 0 if has_any(flat_inputs, Image, Video, is_pil_image) else 1
        chosen = []
        for part in flat_inputs:
            wanted = check_type(part, self._transformed_types)
            if wanted and is_pure_tensor(part):
                wanted, plain_left = plain_left > 0, plain_left - 1
            chosen.append(wanted)
        return chosen

    def extra_repr(self) -> str:
        """The settings, as far as they are simple."""
        simple = (bool, int, float, str, tuple, list, enum.Enum)
        shown = []
        for name, value in vars(self).items():
            if not name.startswith("_") and name != "training" and isinstance(value, simple):
                shown.append(f"{name}={value}")
        return ", ".join(shown)


class RandomApplied(Transform):
    """A transform that happens with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}")
        super().__init__()
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        """The sample, changed or not."""
        whole = inputs if len(inputs) > 1 else inputs[0]
        parts, spec = pytree.flatten(whole)
        self.check_inputs(parts)
        if tenfold.rand(1).item() >= self.p:
            return whole
        return pytree.unflatten(self._changed(parts), spec)
