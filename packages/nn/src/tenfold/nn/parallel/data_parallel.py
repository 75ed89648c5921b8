"""`DataParallel`: a module whose batches are split over the devices of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold.nn.module import Module
from tenfold.nn.parallel.parallel_apply import parallel_apply
from tenfold.nn.parallel.replicate import replicate
from tenfold.nn.parallel.scatter_gather import gather, scatter_kwargs


class DataParallel(Module):
    """Calls a module with parts of each batch on several devices; where there is one device it calls the module itself.

    Args: module; device_ids (all CUDA devices), output_device (the first of them), dim: of the batch.
    The wrapped module is the attribute `module`, so that names in its state dict begin with "module.".

    >>> from tenfold import nn
    >>> DataParallel(nn.Identity())(tenfold.ones(1))
    tensor([1.])
    """

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids = _devices(device_ids)
        self.output_device = output_device if output_device is not None or not self.device_ids else self.device_ids[0]
        if len(self.device_ids) == 1:
            self.module.to(tenfold.device("cuda", self.device_ids[0]))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result for the whole batch."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        placed, named = self.scatter(inputs, kwargs, self.device_ids)
        if len(self.device_ids) == 1:
            return self.module(*(placed[0] if placed else ()), **(named[0] if named else {}))
        replicas = self.replicate(self.module, self.device_ids[: len(placed)])
        return self.gather(self.parallel_apply(replicas, placed, named), self.output_device)

    # What a subclass may do in another way.

    def replicate(self, module: Module, device_ids: Sequence[Any]) -> list[Module]:
        """A copy of the module for each device."""
        return replicate(module, _places(device_ids))

    def scatter(self, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, device_ids: Sequence[Any]) -> Any:
        """The parts of the arguments for each device: positional ones, and named ones."""
        return scatter_kwargs(inputs, kwargs, _places(device_ids), self.dim)

    def parallel_apply(self, replicas: Sequence[Module], inputs: Sequence[Any], kwargs: Any) -> list[Any]:
        """The result of each copy for its part."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Sequence[Any], output_device: Any) -> Any:
        """One result of all."""
        return gather(outputs, _places([output_device])[0], self.dim)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """`DataParallel(module, ...)(*inputs)` as a function."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    ids = _devices(device_ids)
    if not ids:
        return module(*given, **(module_kwargs or {}))
    return _run(module, given, ids, ids[0] if output_device is None else output_device, dim, module_kwargs or {})


def _devices(device_ids: Sequence[Any] | None) -> list[int]:
    """The numbers of the CUDA devices to use; none where there are none."""
    if not tenfold.cuda.is_available():
        return []
    chosen = range(tenfold.cuda.device_count()) if device_ids is None else device_ids
    return [one if isinstance(one, int) else tenfold.device(one).index or 0 for one in chosen]


def _places(devices: Sequence[Any]) -> list[Any]:
    return [tenfold.device("cuda", one) if isinstance(one, int) else one for one in devices]


def _run(module: Module, inputs: tuple[Any, ...], ids: list[int], output: Any, dim: int, kwargs: dict[str, Any]) -> Any:
    devices = _places(ids)
    placed, named = scatter_kwargs(inputs, kwargs, devices, dim)
    if len(devices) == 1:
        return module(*(placed[0] if placed else ()), **(named[0] if named else {}))
    used = devices[: len(placed)]
    results = parallel_apply(replicate(module, used), placed, named)
    return gather(results, _places([output])[0], dim)
