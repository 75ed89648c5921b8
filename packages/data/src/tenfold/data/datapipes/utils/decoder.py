"""Decoders of files by the endings of their names: texts, numbers, JSON, pickles, pictures, matrices of MATLAB."""

from __future__ import annotations

import importlib
import io
import json
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import tenfold

__all__ = ["Decoder", "basichandlers", "extension_extract_fn", "handle_extension", "imagehandler", "mathandler"]

Handler = Callable[[str, Any], Any]

_PICTURES = {"jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm"}
# What a picture becomes: of which library, of which numbers, with which of Pillow's modes.
imagespecs: dict[str, tuple[str, str | None, str]] = {
    "l8": ("numpy", "uint8", "l"),
    "rgb8": ("numpy", "uint8", "rgb"),
    "rgba8": ("numpy", "uint8", "rgba"),
    "l": ("numpy", "float", "l"),
    "rgb": ("numpy", "float", "rgb"),
    "rgba": ("numpy", "float", "rgba"),
    "torchl8": ("torch", "uint8", "l"),
    "torchrgb8": ("torch", "uint8", "rgb"),
    "torchrgba8": ("torch", "uint8", "rgba"),
    "torchl": ("torch", "float", "l"),
    "torchrgb": ("torch", "float", "rgb"),
    "torch": ("torch", "float", "rgb"),
    "torchrgba": ("torch", "float", "rgba"),
    "pill": ("pil", None, "l"),
    "pil": ("pil", None, "rgb"),
    "pilrgb": ("pil", None, "rgb"),
    "pilrgba": ("pil", None, "rgba"),
}


def basichandlers(extension: str, data: Any) -> Any:
    """The text of txt, text, transcript; the number of cls, cls2, class, count, index, inx, id; the object of json, jsn, pickle,
    pyd and pt; None for other endings.

    A pickle runs what it says: only files that are trusted.

    >>> basichandlers("cls", b"7")
    7
    """
    if extension in {"txt", "text", "transcript"}:
        return data if isinstance(data, str) else data.decode("utf-8")  # files may be open as text
    if extension in {"cls", "cls2", "class", "count", "index", "inx", "id"}:
        return int(data)
    if extension in {"json", "jsn"}:
        return json.loads(data)
    if extension in {"pyd", "pickle"}:
        return pickle.loads(data)  # noqa: S301 - that is what the ending asks for
    if extension == "pt":
        return tenfold.load(io.BytesIO(data))
    return None


class handle_extension:  # noqa: N801 - PyTorch's name
    """A handler made of a function of bytes, for endings given with spaces between them; an ending may have several parts.

    >>> handle_extension("jpg jpeg", len)("JPEG", b"abc")
    3
    """

    def __init__(self, extensions: str, f: Callable[[Any], Any]) -> None:
        self.endings = [ending.split(".") for ending in extensions.lower().split()]
        self.f = f

    def __call__(self, key: str, data: Any) -> Any:
        parts = key.lower().split(".")
        return self.f(data) if any(parts[-len(ending) :] == ending for ending in self.endings) else None


class ImageHandler:
    """A handler of pictures: jpg, jpeg, png, ppm, pgm, pbm, pnm; what they become is one of `imagespecs`.

    Floats are from 0 to 1; tensors have channels first. Raises: AssertionError for an unknown specification, ModuleNotFoundError
    without Pillow.
    """

    def __init__(self, imagespec: str) -> None:
        if imagespec not in imagespecs:
            raise AssertionError(f"unknown image specification: {imagespec}; there are {', '.join(imagespecs)}")
        self.imagespec = imagespec.lower()

    def __call__(self, extension: str, data: bytes) -> Any:
        if extension.lower() not in _PICTURES:
            return None
        try:
            from PIL import Image  # here: an extra, which only pictures need
        except ImportError:
            raise ModuleNotFoundError("decoding pictures needs Pillow: pip install pillow") from None
        library, numbers, mode = imagespecs[self.imagespec]
        with Image.open(io.BytesIO(data)) as opened:
            picture = opened.convert(mode.upper())
        if library == "pil":
            return picture
        array = np.array(picture)
        if library == "torch":
            array = np.ascontiguousarray(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])
        if numbers == "float":
            array = array.astype(np.float32) / 255
        return tenfold.from_numpy(array) if library == "torch" else array


def imagehandler(imagespec: str) -> ImageHandler:
    """The handler of pictures that makes what a specification says: "torch", "rgb8", "pil" and others of `imagespecs`."""
    return ImageHandler(imagespec)


class MatHandler:
    """A handler of MATLAB's files, by SciPy."""

    def __init__(self, **loadmat_kwargs: Any) -> None:
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: bytes) -> Any:
        if extension != "mat":
            return None
        try:
            scipy = importlib.import_module("scipy.io")  # an extra, which only these files need
        except ImportError:
            raise ModuleNotFoundError("decoding MATLAB's files needs SciPy: pip install scipy") from None
        return scipy.loadmat(io.BytesIO(data), **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: Any) -> MatHandler:
    """The handler of MATLAB's files; the options are those of `scipy.io.loadmat`."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """The ending of a path, without its dot.

    >>> extension_extract_fn("a/b.tar.gz")
    'gz'
    """
    return os.path.splitext(pathname)[1][1:]


class Decoder:
    """What decodes pairs of a path and its bytes, or dicts of such: by the first handler whose answer is not None; what none
    takes stays bytes. Open files are read and closed.

    >>> Decoder(basichandlers)(("a.txt", b"words"))
    {'a.txt': 'words'}
    """

    def __init__(self, *handler: Handler | None, key_fn: Callable[[str], str] = extension_extract_fn) -> None:
        self.handlers = [each for each in handler if each is not None]
        self.key_fn = key_fn

    def add_handler(self, *handler: Handler | None) -> None:
        """Ask more handlers, after those there are."""
        self.handlers += [each for each in handler if each is not None]

    def decode1(self, key: str, data: Any) -> Any:
        """What the bytes of one ending decode to."""
        for handler in self.handlers:
            result = handler(key, data)
            if result is not None:
                return result
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """The decoded values by their paths."""
        found: dict[str, Any] = {}
        for path, value in data.items() if isinstance(data, dict) else [data]:
            if path.startswith("__"):  # what a program noted beside its files
                found[path] = value
                continue
            if hasattr(value, "read"):
                with value:
                    value = value.read()
            found[path] = self.decode1(self.key_fn(path), value)
        return found

    def __call__(self, data: Any) -> dict[str, Any]:
        return self.decode(data)
