"""Copies of a module for several devices."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from tenfold.nn.module import Module


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """For each device a copy of the module whose parameters are the module's own, moved there, so that gradients reach them."""
    return [_replica(network, device, detach) for device in devices]


def _replica(module: Module, device: Any, detach: bool) -> Module:
    made = copy.copy(module)
    for kind in ("_parameters", "_buffers", "_modules"):
        made.__dict__[kind] = copy.copy(module.__dict__[kind])
    for name, child in module._modules.items():
        made._modules[name] = None if child is None else _replica(child, device, detach)
    for tensors in (made._parameters, made._buffers):
        for name, value in tensors.items():
            if value is not None and (detach or value.device != device):
                tensors[name] = (value.detach() if detach else value).to(device)  # type: ignore[assignment]
    return made
