"""Batches split over devices, and results brought together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """For each device the nested arguments with its part of every tensor; what is no tensor is the same for all.

    >>> scatter((tenfold.arange(4), "name"), ["cpu", "cpu"])
    [(tensor([0, 1]), 'name'), (tensor([2, 3]), 'name')]
    """
    count = len(target_gpus)
    if isinstance(inputs, Tensor):
        parts = inputs.chunk(count, dim)
        return [part.to(device) for part, device in zip(parts, target_gpus)]
    if isinstance(inputs, tuple) and hasattr(inputs, "_fields"):
        return [type(inputs)(*parts) for parts in _each(inputs, target_gpus, dim)]
    if isinstance(inputs, (tuple, list)) and inputs:
        return [type(inputs)(parts) for parts in _each(inputs, target_gpus, dim)]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(zip(inputs, parts)) for parts in _each(inputs.values(), target_gpus, dim)]
    return [inputs] * count


def _each(values: Any, devices: Sequence[Any], dim: int) -> Any:
    return zip(*(scatter(value, devices, dim) for value in values))


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """`scatter` of positional and of named arguments, as many of each."""
    placed, named = scatter(inputs, target_gpus, dim), scatter(kwargs or {}, target_gpus, dim)
    count = max(len(placed), len(named)) if inputs and kwargs else len(placed) if inputs else len(named)
    placed = [*placed[:count], *[()] * (count - len(placed))]
    named = [*named[:count], *[{}] * (count - len(named))]
    return tuple(placed), tuple(named)


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """One nested result from those of several devices, its tensors concatenated on one device.

    >>> gather([tenfold.ones(1), tenfold.zeros(2)], "cpu")
    tensor([1., 0., 0.])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        rows = [output.reshape(1) if not output.dim() else output for output in outputs]
        return tenfold.cat([row.to(target_device) for row in rows], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(output) == len(first) for output in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([output[key] for output in outputs], target_device, dim)) for key in first)
    columns = [gather(column, target_device, dim) for column in zip(*outputs)]
    return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
