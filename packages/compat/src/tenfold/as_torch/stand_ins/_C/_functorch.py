"""`torch._C._functorch`: what libraries ask of tensors inside vmap and grad."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold import Tensor
from tenfold.dispatch.runtime import STATE

_LEVELS = importlib.import_module("tenfold.autograd.levels")
_BATCH = importlib.import_module("tenfold.autograd.batch_level")
_DUAL = importlib.import_module("tenfold.autograd.dual_level")


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor is one example of a batch inside vmap.

    >>> from tenfold import func, ones
    >>> seen = []
    >>> _ = func.vmap(lambda x: seen.append(is_batchedtensor(x)) or x)(ones(2))
    >>> seen, is_batchedtensor(ones(2))
    ([True], False)
    """
    return isinstance(_LEVELS.highest([tensor]), _BATCH.BatchLevel)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether a tensor carries its tangent in forward mode."""
    return isinstance(_LEVELS.highest([tensor]), _DUAL.DualLevel)


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for another of a lower level."""
    return _LEVELS.highest([tensor]) is not None


def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """False: there is only one vmap."""
    return False


def maybe_get_level(tensor: Tensor) -> int:
    """The level of a tensor: -1 for a plain one."""
    transform = _LEVELS.highest([tensor])
    return -1 if transform is None else int(transform.level)


def maybe_get_bdim(tensor: Tensor) -> int:
    """The batch dimension of one example of a batch: -1 for other tensors."""
    array: Any = tensor._array
    dim: int | None = getattr(array, "dim", None)
    return -1 if dim is None else dim


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor of the level below: a batch with all its examples."""
    if not is_functorch_wrapped_tensor(tensor):
        raise RuntimeError("No wrappers present!")
    array: Any = tensor._array
    return array.value  # type: ignore[no-any-return]


def _add_batch_dim(tensor: Tensor, batch_dim: int, level: int) -> Tensor:
    """One example of a batch whose dimension `batch_dim` the vmap of a level runs over."""
    return _level(level).wrap(tensor, batch_dim % tensor.ndim)  # type: ignore[no-any-return]


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """The batch of which `tensor` is one example, with the examples along `out_dim`."""
    value, dim = _level(level).unwrap(tensor)
    if dim is None:
        value = value.unsqueeze(0).expand(batch_size, *value.shape)
    return value.movedim(dim or 0, out_dim)  # type: ignore[no-any-return]


def _level(level: int) -> Any:
    found = [t for t in STATE.transforms if t.level == level and isinstance(t, _BATCH.BatchLevel)]
    if not found:
        raise RuntimeError(f"vmap: this thread is in no vmap of level {level}")
    return found[0]
