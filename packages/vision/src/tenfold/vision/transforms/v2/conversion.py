"""Between Pillow, arrays and tensors; dtypes, normalization, and functions of the user's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import retouch
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import Transform
from tenfold.vision.transforms.v2.samples import Check, has_any
from tenfold.vision.tv_tensors import Image, TVTensor, Video

Dtypes = tenfold.dtype | dict[Any, tenfold.dtype | None]


def _array(inpt: Any) -> bool:
    return isinstance(inpt, np.ndarray)


class Identity(Transform):
    """The sample as it is."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part itself."""
        return inpt


class Lambda(Transform):
    """A function of the user's, on parts of these types (all by default).

    Raises:
        TypeError: it cannot be called.
    """

    _transformed_types: ClassVar[tuple[Check, ...]] = (object,)

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        if not callable(lambd):
            raise TypeError(f"Lambda: Argument lambd should be callable, got {type(lambd).__name__}")
        self.lambd = lambd
        self.types = types or (object,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self) -> str:
        """The function's name and the types."""
        name = getattr(self.lambd, "__name__", None)
        return ", ".join([*([name] if name else []), f"types={[kind.__name__ for kind in self.types]}"])


class ToImage(Transform):
    """PIL images, arrays and plain tensors as `tv_tensors.Image`, their values as they are."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (F.is_pure_tensor, is_pil_image, _array)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.to_image(inpt)


class PILToTensor(Transform):
    """PIL images as plain tensors of their own values."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (is_pil_image,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.pil_to_tensor(inpt)


class ToPILImage(Transform):
    """Tensors and arrays as PIL images; floats of 0..1 become bytes."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (F.is_pure_tensor, Image, _array)

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        plain = inpt.as_subclass(Tensor) if isinstance(inpt, TVTensor) else inpt
        return F.to_pil_image(plain, mode=self.mode)


class ToTensor(Transform):
    """PIL images and arrays as plain tensors, bytes scaled to 0..1. `ToImage` and `ToDtype` say this more clearly."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (is_pil_image, _array)

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. Instead, please use "
            "`v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`.",
            stacklevel=2,
        )
        super().__init__()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return F.to_tensor(inpt)


class ToPureTensor(Transform):
    """Tensors with a meaning as plain ones."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (TVTensor,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return inpt.as_subclass(Tensor)


class ConvertImageDtype(Transform):
    """Everything in another dtype, pictures with their full range for the full range; `ToDtype` tells things apart."""

    def __init__(self, dtype: tenfold.dtype = tenfold.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=True)


class ToDtype(Transform):
    """Pictures and films in another dtype; with a dictionary from types to dtypes (or None), everything named there.

    ``scale`` brings pictures' full range to that of the new dtype.

    >>> ToDtype(tenfold.float32, scale=True)(Image(tenfold.tensor([[0, 255]], dtype=tenfold.uint8)))
    Image([[[0., 1.]]])

    Raises:
        ValueError: the dictionary has neither a part's type nor "others".
    """

    _transformed_types: ClassVar[tuple[Check, ...]] = (Tensor,)

    def __init__(self, dtype: Dtypes, scale: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, dict | tenfold.dtype):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        plain_too = isinstance(dtype, dict) and Tensor in dtype and any(kind in dtype for kind in (Image, Video))
        if plain_too:
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. Note that a plain "
                "`torch.Tensor` will *not* be transformed in case a `tv_tensors.Image` or `tv_tensors.Video` is present.",
                stacklevel=2,
            )
        self.dtype = dtype
        self.scale = scale

    def _wanted(self, inpt: Any, picture: bool) -> tenfold.dtype | None:
        if not isinstance(self.dtype, dict):
            return self.dtype if picture else None
        if type(inpt) in self.dtype:
            return self.dtype[type(inpt)]
        if "others" in self.dtype:
            return self.dtype["others"]
        raise ValueError(
            f"No dtype was specified for type {type(inpt)}. If you only need to convert the dtype of images or videos, you can "
            'just pass e.g. dtype=torch.float32. If you\'re passing a dict as dtype, you can use "others" as a catch-all key.'
        )

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        picture = F.is_pure_tensor(inpt) or isinstance(inpt, Image | Video)
        dtype = self._wanted(inpt, picture)
        if dtype is None:
            if self.scale and picture:
                warnings.warn(
                    "scale was set to True but no dtype was specified for images or videos: no scaling will be done.",
                    stacklevel=2,
                )
            return inpt
        return self._call_kernel(F.to_dtype, inpt, dtype=dtype, scale=self.scale)


class Normalize(Transform):
    """``(value - mean) / std`` for every channel of floats.

    Raises:
        TypeError: the sample has a PIL image.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = list(mean)
        self.std = list(std)
        self.inplace = inplace

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raises TypeError for PIL images."""
        if has_any(flat_inputs, is_pil_image):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.normalize, inpt, mean=self.mean, std=self.std, inplace=self.inplace)


class LinearTransformation(Transform):
    """``(flattened picture - mean_vector) @ transformation_matrix``; see `transforms.LinearTransformation`.

    Raises:
        TypeError: the sample has a PIL image.
        ValueError: the matrix, the vector and the picture do not fit.
    """

    _transformed_types: ClassVar[tuple[Check, ...]] = (F.is_pure_tensor, Image, Video)

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        self._plain = [retouch.LinearTransformation(transformation_matrix, mean_vector)]
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raises TypeError for PIL images."""
        if has_any(flat_inputs, is_pil_image):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        result = self._plain[0](inpt.as_subclass(Tensor) if isinstance(inpt, TVTensor) else inpt)
        return type(inpt)._dressed(result, inpt._known()) if isinstance(inpt, TVTensor) else result


class UniformTemporalSubsample(Transform):
    """As many frames of a film, at even distances."""

    _transformed_types: ClassVar[tuple[Check, ...]] = (F.is_pure_tensor, Video)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.uniform_temporal_subsample, inpt, self.num_samples)
