"""Tensors copied to several devices, added from them, cut over them, joined: `torch.nn.parallel.comm` and `torch.cuda.comm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor


def broadcast(tensor: Tensor, devices: Sequence[Any] | None = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """The tensor on each of the devices, or in each of `out`; on its own device it is itself.

    Raises: RuntimeError unless one of `devices` and `out` is given.

    >>> broadcast(tenfold.ones(2), ["cpu", "cpu"])
    (tensor([1., 1.]), tensor([1., 1.]))
    """
    if out is not None and devices is None:
        return tuple(one.copy_(tensor) for one in out)
    if out is not None or devices is None:
        given = f"devices={devices} and out={out}"
        raise RuntimeError(f"broadcast: exactly one of 'devices' and 'out' must be specified, got {given}")
    return tuple(tensor.to(_place(one)) for one in devices)


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[Any], buffer_size: int = 10485760
) -> list[tuple[Tensor, ...]]:  # fmt: skip
    """For each device all tensors; `buffer_size` changes nothing, as copies wait for nothing here."""
    return [tuple(tensor.to(_place(one)) for tensor in tensors) for one in devices]


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of the same sizes, on a device (None: where the first one is, the current one of several GPUs).

    Raises: ValueError for different sizes, RuntimeError for none.
    """
    _some("reduce_add", inputs)
    sizes = inputs[0].shape
    for k, one in enumerate(inputs):
        if one.shape != sizes:
            raise ValueError(f"reduce_add: input {k} has invalid size: got {list(one.shape)}, but expected {list(sizes)}")
    where = _place(destination, inputs[0])
    total = inputs[0].to(where)
    for one in inputs[1:]:
        total = total + one.to(where)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:  # fmt: skip
    """`reduce_add` of the first tensor of every device, of the second of every device, and so on."""
    return tuple(reduce_add(column, destination) for column in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor, devices: Sequence[Any] | None = None, chunk_sizes: Sequence[int] | None = None, dim: int = 0,
    streams: Any = None, *, out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The tensor's parts along `dim`, of `chunk_sizes` or equal, one on each device (None: all GPUs), or in each of `out`.

    Raises: RuntimeError for chunk sizes beside `out`, or that do not fit, and where there is no device.
    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError("scatter: 'devices' and 'chunk_sizes' must not be specified when 'out' is: its tensors tell them")
        parts = tensor.split([one.size(dim) for one in out], dim)
        return tuple(one.copy_(part) for one, part in zip(out, parts, strict=True))
    places = [_place(one) for one in (range(tenfold.cuda.device_count()) if devices is None else devices)]
    if not places:
        raise RuntimeError("scatter: expects at least one device; there is no GPU, or `devices` is empty")
    if chunk_sizes is not None and len(chunk_sizes) != len(places):
        raise RuntimeError(f"scatter: expected {len(places)} chunk sizes, one for each device, got {len(chunk_sizes)}")
    cut = tensor.chunk(len(places), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(part.to(where) for part, where in zip(cut, places))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The tensors side by side along `dim`, on a device (None: as `reduce_add`), or in `out`.

    Raises: RuntimeError for a destination beside `out`, and for no tensor.

    >>> gather([tenfold.ones(1), tenfold.zeros(2)], destination="cpu")
    tensor([1., 0., 0.])
    """
    if out is not None and destination is not None:
        raise RuntimeError("gather: 'destination' must not be specified when 'out' is: it tells the device")
    _some("gather", tensors)
    where = out.device if out is not None else _place(destination, tensors[0])
    joined = tenfold.cat([one.to(where) for one in tensors], dim)
    return joined if out is None else out.copy_(joined)


def _some(name: str, tensors: Sequence[Tensor]) -> None:
    if not tensors:
        raise RuntimeError(f"{name}: expects at least one tensor")


def _place(where: Any, like: Tensor | None = None) -> Any:
    """A device given as a number (-1: the CPU), a string or a device; None: that of a tensor, the current one of several GPUs."""
    if where is None:
        where = "cuda" if like is None else like.device.type
    if isinstance(where, int):
        return tenfold.device("cpu") if where < 0 else tenfold.device("cuda", where)
    return tenfold.device(where)
