"""Laying the weights of convolutions in another memory format."""

from __future__ import annotations

from typing import Any, TypeVar

from tenfold.nn.layers.conv.layers import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from tenfold.nn.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound=Module)


def convert_conv2d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Lays the weight of every `Conv2d` and `ConvTranspose2d` in `module` in `memory_format`; returns the module.

    >>> import tenfold
    >>> layer = convert_conv2d_weight_memory_format(Conv2d(2, 3, 2), tenfold.channels_last)
    >>> layer.weight.stride()
    (8, 1, 4, 2)
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: _M, memory_format: Any) -> _M:
    """Lays the weight of every `Conv3d` and `ConvTranspose3d` in `module` in `memory_format`; returns the module."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: _M, layers: tuple[type[Module], ...], memory_format: Any) -> _M:
    for part in module.modules():
        if isinstance(part, layers):
            weight: Any = part.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
