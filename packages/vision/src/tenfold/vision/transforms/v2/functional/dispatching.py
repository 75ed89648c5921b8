"""Functions that do to each kind of thing (picture, film, mask, boxes, points) what is right for it.

A function's body is empty: its signature says what it takes, and `dispatches` names a kernel for each kind. A kernel gets the
plain tensor and those of the arguments that it names; kernels of boxes and points also what these know of themselves
(``format``, ``canvas_size``, ``clamping_mode``), and may give a new canvas size with their result.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from tenfold import Tensor
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.interpolation import InterpolationMode
from tenfold.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video, wrap

Kernel = Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])
KINDS: dict[str, type] = {
    "image": Image,
    "video": Video,
    "mask": Mask,
    "bounding_boxes": BoundingBoxes,
    "keypoints": KeyPoints,
}
BUILT_IN = (Tensor, *KINDS.values())


class PILImage:
    """Stands for Pillow's class, which is imported only where it is used."""


def is_pure_tensor(inpt: Any) -> bool:
    """Whether this is a tensor without a meaning of its own."""
    return isinstance(inpt, Tensor) and not isinstance(inpt, TVTensor)


class Registry:
    """The kernels of one function: for each class a call that takes the thing with the function's own arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self.parameters = list(inspect.signature(function).parameters)[1:]
        self.calls: dict[type, Kernel] = {}
        self.kernels: dict[str, Kernel] = {}

    def find(self, kind: type) -> Kernel | None:
        """The call for this class or the nearest of those that it comes from."""
        found = next((self.calls[base] for base in kind.__mro__ if base in self.calls), None)
        # A class of a user's that nobody registered is no plain tensor.
        return None if found is self.calls.get(Tensor) and issubclass(kind, TVTensor) and kind not in self.calls else found

    def add(self, kind: str, kernel: Kernel) -> None:
        """A kernel of ours for a kind."""
        accepted = list(inspect.signature(kernel).parameters)[1:]
        self.kernels[kind] = kernel
        call = functools.partial(_call, kernel, self.parameters, frozenset(accepted))
        self.calls[KINDS[kind]] = call
        if kind == "image":
            self.calls[Tensor] = call


def _call(kernel: Kernel, parameters: list[str], accepted: frozenset[str], inpt: Tensor, *args: Any, **kwargs: Any) -> Any:
    given = {**dict(zip(parameters, args, strict=False)), **kwargs}
    if isinstance(given.get("interpolation"), str):
        given["interpolation"] = InterpolationMode(given["interpolation"].lower())
    if not isinstance(inpt, TVTensor):
        return kernel(inpt, **{name: value for name, value in given.items() if name in accepted})
    given = {**inpt._known(), **given}
    result = kernel(inpt.as_subclass(Tensor), **{name: value for name, value in given.items() if name in accepted})
    if isinstance(inpt, BoundingBoxes | KeyPoints) and isinstance(result, tuple):
        return wrap(result[0], like=inpt, canvas_size=tuple(result[1]))
    if isinstance(result, tuple | list):
        return tuple(wrap(part, like=inpt) for part in result) if isinstance(result[0], Tensor) else result
    return wrap(result, like=inpt) if isinstance(result, Tensor) else result


REGISTRIES: dict[Callable[..., Any], Registry] = {}


def dispatches(
    image: Kernel | None = None,
    *,
    pil: Kernel | bool = True,
    video: Kernel | bool = True,
    mask: Kernel | None = None,
    bounding_boxes: Kernel | None = None,
    keypoints: Kernel | None = None,
) -> Callable[[Function], Function]:
    """Make of an empty function one that calls the kernel for its first argument's kind.

    ``pil`` and ``video`` are the image's kernel at True, none at False.
    """

    def made(function: Function) -> Function:
        registry = Registry(function)
        film = image if video is True else video or None
        kernels = {"image": image, "video": film, "mask": mask, "bounding_boxes": bounding_boxes, "keypoints": keypoints}
        for kind, kernel in kernels.items():
            if callable(kernel):
                registry.add(kind, kernel)
        picture = image if pil is True else pil or None
        if callable(picture):
            accepted = frozenset(list(inspect.signature(picture).parameters)[1:])
            registry.calls[PILImage] = functools.partial(_call, picture, registry.parameters, accepted)

        @functools.wraps(function)
        def chosen(inpt: Any, *args: Any, **kwargs: Any) -> Any:
            return kernel_for(chosen, type(inpt), inpt)(inpt, *args, **kwargs)

        REGISTRIES[chosen] = registry
        return chosen  # type: ignore[return-value]

    return made


@functools.cache
def kernel_of(function: Callable[..., Any], kind: str) -> Kernel | None:
    """What a function does to one kind, as a function of its own whose first parameter is called after the kind."""
    registry = REGISTRIES.get(function)
    if registry is None or kind not in registry.kernels:
        return None
    kernel = registry.kernels[kind]
    signature = inspect.signature(kernel)
    first, *others = signature.parameters.values()

    @functools.wraps(kernel)
    def named(*args: Any, **kwargs: Any) -> Any:
        return kernel(*args, **kwargs) if args or kind not in kwargs else kernel(kwargs.pop(kind), **kwargs)

    named.__name__ = named.__qualname__ = f"{registry.name}_{kind}"
    named.__module__ = __package__  # where it is asked for, so that a pickle finds it
    named.__signature__ = signature.replace(parameters=[first.replace(name=kind), *others])  # type: ignore[attr-defined]
    return named


def kernel_for(function: Callable[..., Any], kind: type, inpt: Any, passes: bool = False) -> Kernel:
    """What the function does to a thing of this class; ``passes`` lets what it knows nothing of through unchanged.

    Raises:
        TypeError: it has no kernel for the class.
        ValueError: it is none of the functions that dispatch.
    """
    registry = REGISTRIES.get(function)
    if registry is None:
        raise ValueError(f"No kernel registered for functional {getattr(function, '__name__', function)}.")
    key = PILImage if not isinstance(inpt, Tensor) and is_pil_image(inpt) else kind
    found = registry.find(key)
    if found is not None:
        return found
    if passes:
        return lambda value, *args, **kwargs: value
    accepted = ", ".join(cls.__name__ for cls in registry.calls)
    raise TypeError(f"Functional F.{registry.name} supports inputs of type {accepted}, but got {kind} instead.")


def register_kernel(functional: Any, tv_tensor_cls: Any) -> Callable[[Function], Function]:
    """Decorate what a function shall do to a class of your own; it gets the thing and the function's arguments.

    >>> from tenfold.vision import tv_tensors
    >>> from tenfold.vision.transforms.v2 import functional
    >>> class Depth(tv_tensors.TVTensor):
    ...     pass
    >>> @register_kernel(functional.horizontal_flip, Depth)
    ... def mirrored(depth):
    ...     return tv_tensors.wrap(depth.flip(-1), like=depth)
    >>> import tenfold
    >>> functional.horizontal_flip(tenfold.tensor([1.0, 2.0]).as_subclass(Depth))
    Depth([2., 1.])

    Raises:
        ValueError: the function does not dispatch, the class is no tensor with a meaning, or one of Tenfold's own.
    """
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, TVTensor)):
        raise ValueError(
            f"Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, but got {tv_tensor_cls}."
        )
    if functional not in REGISTRIES:
        raise ValueError(f"Kernels can only be registered on functionals of v2.functional, but got {functional}.")
    if tv_tensor_cls in BUILT_IN:
        raise ValueError(f"Kernels cannot be registered for the builtin classes, but got {tv_tensor_cls}")

    def registered(kernel: Function) -> Function:
        calls = REGISTRIES[functional].calls
        if tv_tensor_cls in calls:
            raise ValueError(f"Functional {functional.__name__} already has a kernel registered for type {tv_tensor_cls}.")
        calls[tv_tensor_cls] = kernel
        return kernel

    return registered
