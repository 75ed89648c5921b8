"""Tensors copied to several devices, added from them, cut over them and joined: `torch.nn.parallel.comm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor


def broadcast(tensor: Tensor, devices: Sequence[Any] | None = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """The tensor on each of the devices, or in each of `out`.

    >>> broadcast(tenfold.ones(2), ["cpu", "cpu"])
    (tensor([1., 1.]), tensor([1., 1.]))
    """
    if (devices is None) == (out is None):
        raise RuntimeError(f"broadcast: exactly one of 'devices' and 'out' is wanted, got devices={devices} and out={out}")
    if out is not None:
        return tuple(one.copy_(tensor) for one in out)
    return tuple(tensor.to(place(one)) for one in devices or ())


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[Any], buffer_size: int = 10485760) -> tuple[Any, ...]:
    """For each device, all of the tensors there; `buffer_size` says how PyTorch packs them."""
    return tuple(tuple(tensor.to(place(one)) for tensor in tensors) for one in devices)


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of one shape, on the device `destination`, or on the first one's.

    Raises ValueError where shapes differ.
    """
    shapes = {tuple(one.shape) for one in inputs}
    if len(shapes) > 1:
        raise ValueError(f"reduce_add: the tensors should have one shape, got {sorted(shapes)}")
    where = inputs[0].device if destination is None else place(destination)
    total = inputs[0].to(where)
    for one in inputs[1:]:
        total = total + one.to(where)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:  # fmt: skip
    """`reduce_add` of the first tensor of every device, of the second of every device, and so on."""
    return tuple(reduce_add(column, destination) for column in zip(*inputs))


def scatter(
    tensor: Tensor, devices: Sequence[Any] | None = None, chunk_sizes: Sequence[int] | None = None, dim: int = 0,
    streams: Any = None, *, out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The tensor's parts along `dim`, of `chunk_sizes` or of equal size, one on each device, or in each of `out`."""
    if out is not None:
        parts = tensor.split([one.size(dim) for one in out], dim)
        return tuple(one.copy_(part) for one, part in zip(out, parts))
    chosen = devices or ()
    cut = tensor.chunk(len(chosen), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(part.to(place(one)) for part, one in zip(cut, chosen))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The tensors side by side along `dim`, on the device `destination` (the first one's), or in `out`.

    >>> gather([tenfold.ones(1), tenfold.zeros(2)], destination="cpu")
    tensor([1., 0., 0.])
    """
    where = out.device if out is not None else tensors[0].device if destination is None else place(destination)
    joined = tenfold.cat([one.to(where) for one in tensors], dim)
    return joined if out is None else out.copy_(joined)


def place(device: Any) -> Any:
    """The device of a number, as these functions take them: -1 is the CPU."""
    if not isinstance(device, int):
        return device
    return tenfold.device("cpu") if device < 0 else tenfold.device("cuda", device)
