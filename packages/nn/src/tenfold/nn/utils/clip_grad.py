"""Limiting gradients before an optimizer's step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import tenfold
from tenfold import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Tensors) -> list[Tensor]:
    return [parameter.grad for parameter in _listed(parameters) if parameter.grad is not None]


@tenfold.no_grad()
def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The p-norm, p = norm_type, of all tensors seen as one vector. Shape: any -> ().

    `foreach` is accepted and has no effect. Raises RuntimeError for a norm that is not finite if `error_if_nonfinite`.

    >>> get_total_norm([tenfold.tensor([3.0]), tenfold.tensor([4.0])]).item()
    5.0
    """
    parts = _listed(tensors)
    p = float(norm_type)
    if not parts:
        return tenfold.tensor(0.0)
    groups = _alike(parts)
    total = _at_once(parts, p) if len(groups) == 1 else None
    if total is None:
        several = len({group[0].dtype for group in groups}) > 1
        total = _norm_of_norms([norm for group in groups for norm in _norms(group, p, several)], p)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {p} for gradients from `parameters` is non-finite ({float(total)}), so it cannot "
            "be "
            "clipped; pass error_if_nonfinite=False to scale by it anyway."
        )
    return total


def _alike(tensors: list[Tensor]) -> list[list[Tensor]]:
    """Those of one device and dtype together: what a device does to many tensors at once."""
    groups: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    return list(groups.values())


def _at_once(parts: list[Tensor], p: float, wide: bool = False) -> Any:
    many = _many(parts)
    return None if many is None else many.norm(parts, p, wide)


def _norms(parts: list[Tensor], p: float, wide: bool) -> list[Tensor]:
    """The norm of all, where the device has that at once, or of each; `wide`: in float32, not in half precision."""
    total = _at_once(parts, p, wide)
    return [tenfold.norm(part, p) for part in parts] if total is None else [total]


def _norm_of_norms(norms: list[Tensor], p: float) -> Tensor:
    first = norms[0].device
    return tenfold.norm(tenfold.stack([norm if norm.device is first else norm.to(first) for norm in norms]), p)


def _many(tensors: list[Tensor]) -> Any:
    """What their device does to many tensors at once; None where it has nothing for that."""
    return getattr(tensors[0].device.backend, "many", None)


def _clipped_at_once(grads: list[Tensor], total_norm: Tensor, max_norm: float) -> bool:
    many = _many(grads)
    return many is not None and many.clip(grads, total_norm, max_norm)


@tenfold.no_grad()
def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scales the gradients in place by min(1, max_norm / (total_norm + 1e-6))."""
    max_norm, grads = float(max_norm), _grads(parameters)
    if not grads:
        return
    grads = [grad for group in _alike(grads) if not _clipped_at_once(group, total_norm, max_norm) for grad in group]
    if not grads:
        return
    factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    on_device: dict[Any, Tensor] = {factor.device: factor}
    for grad in grads:
        if grad.device not in on_device:
            on_device[grad.device] = factor.to(grad.device)
        grad.mul_(on_device[grad.device])


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients in place so that their common norm is at most `max_norm`; returns the norm that they had.

    Raises RuntimeError for a norm that is not finite if `error_if_nonfinite`.
    """
    kept = _listed(parameters)
    if not kept:
        warnings.warn("clip_grad_norm_: `parameters` is empty, there is nothing to clip.", stacklevel=2)
    total: Tensor = get_total_norm(_grads(kept), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(kept, max_norm, total, foreach)
    return total


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated spelling of `clip_grad_norm_`."""
    warnings.warn("clip_grad_norm is deprecated, use clip_grad_norm_.", FutureWarning, stacklevel=2)
    return clip_grad_norm_(*args, **kwargs)


@tenfold.no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Limits every gradient value in place to [-clip_value, clip_value]."""
    limit, grads = float(clip_value), _grads(parameters)
    many = _many(grads) if grads else None
    if many is not None and many.change("clamp", grads, [], -limit, limit):
        return
    for grad in grads:
        grad.clamp_(min=-limit, max=limit)


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_  # PyTorch's names before they were public
