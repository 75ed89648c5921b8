"""`torch.nn.utils._named_member_accessor`: a module's tensors by name, put in and taken out."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nn.module import Module

__all__ = ["swap_tensor"]

_NONE = object()


def swap_tensor(module: Module, name: str, tensor: Tensor | None, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of a module's parameter, buffer or attribute, and return what was there.

    Raises:
        TypeError: no module, or what is there is no tensor.
        KeyError: a name with a dot, or none.
        AttributeError: nothing of this name, unless `allow_missing`.

    >>> from tenfold import nn, zeros
    >>> layer = nn.Linear(1, 1)
    >>> old = swap_tensor(layer, "bias", zeros(1))
    >>> layer.bias.item(), old.requires_grad
    (0.0, True)
    """
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if not (tensor is None or tensor is _NONE or isinstance(tensor, Tensor)):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if "." in name or not name:
        raise KeyError('tensor name can\'t contain "."' if name else 'tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            old = table[name]
            table[name] = tensor  # type: ignore[assignment] # a parameter may give way to a plain tensor here
            return old
    found = getattr(module, name, _NONE)
    if found is _NONE and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if found is not _NONE and not isinstance(found, Tensor):
        raise TypeError(f"attribute `{name}`: {found} is not an instance of torch.Tensor")
    if tensor is _NONE:  # what such a call returned where there was nothing
        delattr(module, name)
    else:
        setattr(module, name, tensor)
    return found
