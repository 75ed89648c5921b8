"""PyTorch's `torch.cuda.comm`: tensors copied to several GPUs, split over them, added up and joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.cuda.devices import device_count, index_of
from tenfold.dispatch.devices import device
from tenfold.dispatch.operators import op
from tenfold.tensor.tensor import Tensor


def _place(where: Any) -> Any:
    """A device given as a number (-1: the CPU), a string or a device; None: the current GPU."""
    if where == -1 or str(where) == "cpu":
        return device("cpu")
    return device("cuda", index_of(where))


def _one_of(devices: Any, out: Any, what: str) -> None:
    if (devices is None) == (out is None):
        raise RuntimeError(f"{what}: exactly one of 'devices' and 'out' must be specified, got devices={devices} and out={out}")


def broadcast(tensor: Tensor, devices: Any = None, *, out: Any = None) -> tuple[Tensor, ...]:
    """A tensor on each device, or written to each of `out`; the one on its own device is itself.

    Raises: RuntimeError unless one of `devices` and `out` is given.
    """
    _one_of(devices, out, "broadcast")
    if out is not None:
        return tuple(one.copy_(tensor) for one in out)
    return tuple(tensor.to(_place(where)) for where in devices)


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Any, buffer_size: int = 10485760) -> list[tuple[Tensor, ...]]:
    """For each device all tensors; `buffer_size` changes nothing, as copies wait for nothing here."""
    return [tuple(tensor.to(_place(where)) for tensor in tensors) for where in devices]


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of the same sizes from several GPUs, on one (None: the current one).

    Raises: ValueError for different sizes, RuntimeError for none.
    """
    if not inputs:
        raise RuntimeError("reduce_add: expects at least one tensor")
    where, sizes = _place(destination), inputs[0].shape
    for k, one in enumerate(inputs):
        if one.shape != sizes:
            raise ValueError(f"input {k} has invalid size: got {list(one.shape)}, but expected {list(sizes)}")
    total = inputs[0].to(where)
    for one in inputs[1:]:
        total = total + one.to(where)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """`reduce_add` of the first tensors of each sequence, of the second ones, and so on."""
    return tuple(reduce_add(column, destination) for column in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor, devices: Any = None, chunk_sizes: Sequence[int] | None = None, dim: int = 0, streams: Any = None, *,
    out: Any = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """A tensor's parts along a dimension, one on each device (None: all GPUs), or written to each of `out`.

    Raises: RuntimeError for chunk sizes beside `out`, or that do not fit.
    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError("scatter: 'devices' and 'chunk_sizes' must not be specified when 'out' is: its tensors tell them")
        parts = op.split_with_sizes(tensor, [one.shape[dim] for one in out], dim)
        return tuple(one.copy_(part) for one, part in zip(out, parts))
    places = [_place(where) for where in (range(device_count()) if devices is None else devices)]
    if chunk_sizes is None:
        parts = op.chunk(tensor, len(places), dim)
    elif len(chunk_sizes) != len(places):
        raise RuntimeError(f"scatter: expected {len(places)} chunk sizes, one for each device, got {len(chunk_sizes)}")
    else:
        parts = op.split_with_sizes(tensor, list(chunk_sizes), dim)
    return tuple(part.to(where) for part, where in zip(parts, places))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Any = None) -> Tensor:
    """Tensors of several GPUs joined along a dimension, on one (None: the current one), or written to `out`.

    Raises: RuntimeError for a destination beside `out`.
    """
    if out is not None and destination is not None:
        raise RuntimeError("gather: 'destination' must not be specified when 'out' is: it tells the device")
    where = _place(destination) if out is None else out.device
    joined: Tensor = op.cat([one.to(where) for one in tensors], dim)
    return joined if out is None else out.copy_(joined)
