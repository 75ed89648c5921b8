"""Writing into existing tensors: the in-place operators, `out=`, and what a write means for gradients."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.services import SERVICES
from tenfold.types import promotion
from tenfold.types.dtypes import type_name


def run_inplace(operator: Operator, values: dict[str, Any]) -> Any:
    """Compute the base operator and write its result into the first argument."""
    base = operator.inplace_of
    assert base is not None
    first = base.params[0].name
    target = values[first]
    check_writable(operator.name, target)
    if STATE.grad_enabled and (target._key.level is not None or _any_requires_grad(values)):
        # The tape (inside a transform, perhaps that of a lower level) must keep the old value, which the write destroys.
        values[first] = snapshot(target)
    return write_back(operator.name, target, base.fn(**values))


def _any_requires_grad(values: dict[str, Any]) -> bool:
    return any(getattr(v, "_node", None) is not None for v in values.values())


def snapshot(tensor: Any) -> Any:
    """A copy of the value at the same place in the graph."""
    if tensor._key.level is not None:
        copy = tensor.clone()  # recorded, for the tapes of lower levels
    else:
        with RUNTIME["no_grad"]():
            copy = tensor.clone()
    copy._node = tensor._node
    return copy


def check_writable(name: str, target: Any) -> None:
    """Refuse in-place writes to leaves that require gradients, and to views of them, while recording."""
    if not STATE.grad_enabled:
        return
    node = target._node
    base = target._base
    if base is not None and base._node is not None and base._node.is_leaf:
        raise RuntimeError(
            f"{name}: a view of a leaf Variable that requires grad is being used in an in-place operation. "
            f"Write under tenfold.no_grad(), or use the out-of-place form"
        )
    if node is not None and node.is_leaf:
        raise RuntimeError(
            f"{name}: a leaf Variable that requires grad is being used in an in-place operation. "
            f"Write under tenfold.no_grad(), or use the out-of-place form"
        )


def write_back(name: str, target: Any, result: Any) -> Any:
    """Put `result` into the memory of `target` and into its place in the graph."""
    if tuple(result._array.shape) != tuple(target._array.shape):
        if _broadcasts_to(result._array.shape, target._array.shape):
            result = result.expand(target._array.shape)
        else:
            raise RuntimeError(
                f"{name}: output with shape {list(target._array.shape)} doesn't match the broadcast shape "
                f"{list(result._array.shape)}"
            )
    if result.dtype is not target.dtype:
        if not promotion.can_cast(result.dtype, target.dtype):
            raise RuntimeError(
                f"{name}: result type {type_name(result.dtype)} can't be cast to the desired output type "
                f"{type_name(target.dtype)}"
            )
        result = result.to(target.dtype)
    if target._key.level is not None or result._key.level is not None:
        _write_through(name, target, result)
    else:
        target._key.backend.write(target._array, result._array)
    bump_version(target)
    if STATE.grad_enabled and (result._node is not None or target._node is not None):
        SERVICES.autograd().rebase(target, result)
    return target


def _write_through(name: str, target: Any, result: Any) -> None:
    """Inside a transform, tensors are wrappers of values: write into the value of the target, so that its views see it."""
    key = max((t._key for t in (target, result) if t._key.level is not None), key=lambda key: key.level)
    key.transform.write(name, target, result)


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))


def bump_version(tensor: Any) -> None:
    """Note that the tensor's memory was written."""
    storage = tensor._storage
    if storage is None:
        storage = tensor._storage = RUNTIME["Storage"](tensor._array, tensor._key)
    storage.version += 1


def write_out(out: Any, result: Any) -> Any:
    """Write a result into `out=`, resizing it when needed, as PyTorch does."""
    if out._key.level is not None or result._key.level is not None:
        raise RuntimeError("out=... is not possible with tensors inside vmap or jvp; use the result instead")
    if result.dtype is not out.dtype and not promotion.can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {type_name(result.dtype)} can't be cast to the desired output type {type_name(out.dtype)}"
        )
    if result._key.device is not out._key.device:
        raise RuntimeError(f"Expected out tensor to be on {result._key.device}, but it is on {out._key.device}")
    if out._array.shape != result._array.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not "
                f"match the required output shape {list(result.shape)}. This behavior is deprecated.",
                UserWarning,
                stacklevel=4,
            )
        out._array = out._key.backend.empty(result._array.shape, out._array.dtype, out._key.index)
        out._storage = None
    out._key.backend.write(out._array, result._array)
    bump_version(out)
    return out
