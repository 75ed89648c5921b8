"""Samples stacked in the shared memory in which their batch will travel: each is copied once, not to a batch and then again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.multiprocessing.shared import AVAILABLE, Segment, on_span

# Below this size a sample is cheaper to copy with its neighbours than to hand to the system by itself.
_MIN_SAMPLE_BYTES = 8 * 1024
# Below this size a batch goes with others into one block, or into the pipe.
_MIN_BATCH_BYTES = 256 * 1024

_stacked: WeakSet[Segment] = WeakSet()


def stacked_to_send(samples: Sequence[Tensor]) -> Tensor:
    """`tenfold.stack(samples)`, on memory that other processes can map where that pays."""
    first = samples[0]
    if first.nbytes < _MIN_SAMPLE_BYTES or first.nbytes * len(samples) < _MIN_BATCH_BYTES or not _alike(samples):
        return tenfold.stack(samples, 0)
    arrays = [np.ascontiguousarray(elements(sample)) for sample in samples]
    try:
        segment = Segment.joining([array.reshape(-1).view(np.uint8) for array in arrays])
    except (OSError, RuntimeError):  # no room, or no descriptors
        return tenfold.stack(samples, 0)
    _stacked.add(segment)
    memory = on_span(segment, 0, segment.size)
    return tenfold.from_numpy(memory.view(arrays[0].dtype).reshape(len(samples), *first.shape))


def elements(tensor: Tensor) -> np.ndarray[Any, Any]:
    """A tensor's memory as an array, of dtypes too that NumPy has not. Raises: TypeError for a tensor on another device."""
    array: np.ndarray[Any, Any] = tensor.numpy(force=True) if tensor.device.type == "cpu" else tensor.detach().numpy()
    return array


def _alike(samples: Sequence[Tensor]) -> bool:
    """Whether stacking them is no more than laying their bytes one behind the other."""
    first = samples[0]
    return AVAILABLE and all(
        type(sample) is Tensor
        and sample.shape == first.shape
        and sample.dtype == first.dtype
        and sample.device.type == "cpu"
        and sample.layout == tenfold.strided
        and not sample.requires_grad
        for sample in samples
    )


def place_of(array: np.ndarray[Any, Any]) -> tuple[Segment, int] | None:
    """The segment, made here, on which a contiguous array lies, and how far from its start."""
    address: int = array.__array_interface__["data"][0]
    for segment in _stacked:
        offset = address - (segment.address or 0)
        if 0 <= offset < segment.size:
            return segment, offset
    return None
