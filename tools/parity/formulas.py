"""PyTorch's functions by their definitions, to run a program with them in place of its own."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

UNITS = "celu elu selu hardshrink softshrink hardtanh relu6 hardswish".split()


def units_with_one_slope_at_nan(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's units as they are at single elements: nan passes its gradient, times `selu`'s scale."""
    F = torch.nn.functional

    def at_nan(name: str) -> Callable[..., Any]:
        unit, slope = getattr(F, name), 1.0507009873554805 if name == "selu" else 1.0

        def changed(x: Any, *args: Any, inplace: bool = False, **options: Any) -> Any:
            none = torch.isnan(x)
            result = torch.where(none, x * slope, unit(torch.where(none, 0.0, x), *args, **options))
            return x.copy_(result) if inplace else result

        return changed

    return {(F, name): at_nan(name) for name in UNITS}


def mode_by_counting(torch: Any, mode: Callable[..., Any]) -> dict[tuple[Any, str], Any]:
    """PyTorch's `mode` with the positions that another one finds (`mode`, of NumPy's arrays), whose gradient is a gather's."""

    def changed(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
        places = torch.as_tensor(mode(x.detach(), dim))
        values = x.gather(dim, places) if x.dim() else x
        return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))

    return {(torch, "mode"): changed, (torch.Tensor, "mode"): changed}


def extremes_of_the_others(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's extremes in places without what was there, which is overwritten by the first number that comes."""

    def of(name: str, write: str) -> Any:
        original = getattr(torch.Tensor, name)

        def extreme(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
            if include_self or reduce not in ("amax", "amin"):
                return original(x, dim, index, source, reduce, include_self=include_self)
            least = getattr(x.detach().clone(), write)(dim, index, -math.inf if reduce == "amax" else math.inf)
            kept = getattr(torch.ones_like(x.detach()), write)(dim, index, 0)
            return original(torch.where(kept == 1, x, least), dim, index, source, reduce)

        return extreme

    def index_reduce_(x: Any, *given: Any, **options: Any) -> Any:
        return x.copy_(indexed(x.clone(), *given, **options))

    indexed = of("index_reduce", "index_fill")
    found = {"scatter_reduce": of("scatter_reduce", "scatter"), "index_reduce": indexed, "index_reduce_": index_reduce_}
    return {(torch.Tensor, name): function for name, function in found.items()}


def real_before_products(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's products in a real dtype of complex numbers, which are made real first."""

    def of(product: Callable[..., Any]) -> Callable[..., Any]:
        def changed(x: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
            return product(x if dtype is None else x.to(dtype), *args, **options)

        return changed

    return {(place, name): of(getattr(place, name)) for place in (torch, torch.Tensor) for name in ("prod", "cumprod")}


def angles_of_floats(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's atan2 of integers that are made floats before their squares, which its gradient takes, can overflow."""

    def of(original: Any) -> Any:
        def angle(x: Any, y: Any, **options: Any) -> Any:
            kind = torch.result_type(x, y)
            kind = kind if kind.is_floating_point else torch.get_default_dtype()
            return original(*(t if t.is_floating_point() else t.to(kind) for t in (x, y)), **options)

        return angle

    places = [(torch.Tensor, f"{name}{end}") for name in ("atan2", "arctan2") for end in ("", "_")]
    return {(place, name): of(getattr(place, name)) for place, name in (*places, (torch, "atan2"), (torch, "arctan2"))}


def kron_by_definition(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's Kronecker product as a product of its arguments, which its graph keeps in the state that it saw."""

    def kron(x: Any, y: Any) -> Any:
        dims = max(x.dim(), y.dim())
        x, y = (t.reshape([1] * (dims - t.dim()) + list(t.shape)) for t in (x, y))
        left = x.reshape([n for size in x.shape for n in (size, 1)])
        right = y.reshape([n for size in y.shape for n in (1, size)])
        return (left * right).reshape([m * n for m, n in zip(x.shape, y.shape)])

    return {(torch, "kron"): kron, (torch.Tensor, "kron"): kron}


def products_by_steps(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's products, each one multiplication after another: their gradients are the products of the others."""

    def product(parts: Any) -> Any:
        return functools.reduce(operator.mul, parts)

    def parts_of(x: Any, dim: int, dtype: Any) -> Any:
        return (x if dtype is None else x.to(dtype)).unbind(dim)

    def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
        if not x.dim() or not x.numel():
            return x * 1
        parts = parts_of(x, dim, dtype)
        return torch.stack([product(parts[: j + 1]) for j in range(len(parts))], dim)

    def prod(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if not x.dim() or not x.numel():
            return x * 1
        found = product(parts_of(x.flatten() if dim is None else x, dim or 0, dtype))
        return found.unsqueeze(dim) if keepdim else found

    def cumprod_(x: Any, dim: int, *, dtype: Any = None) -> Any:
        return x.copy_(cumprod(x.clone(), dim, dtype=dtype))

    methods = {(torch.Tensor, f.__name__): f for f in (cumprod, cumprod_, prod)}
    return {(torch, "cumprod"): cumprod, (torch, "prod"): prod, **methods}


def curves_by_parts(torch: Any) -> dict[tuple[Any, str], Any]:
    """PyTorch's curved units and losses of their parts, each computed where it holds alone: no 0 meets an infinite gradient."""
    F, where = torch.nn.functional, torch.where

    def exponential(scale: float, alpha: float) -> Callable[..., Any]:
        def unit(x: Any, inplace: bool = False) -> Any:
            below = x <= 0
            found = where(below, where(below, x, 0).expm1() * alpha, x) * scale
            return x.copy_(found) if inplace else found

        return unit

    def softplus(x: Any) -> Any:
        line = x > 20
        return where(line, x, where(line, 0, x).exp().log1p())

    def loss(x: Any, target: Any, reduction: str) -> Any:
        far = x - target
        near = far.abs() < 1
        found = where(near, where(near, far, 0).square() / 2, where(near, 1, far).abs() - 0.5)
        return found if reduction == "none" else getattr(found, reduction)()

    units = {"elu": exponential(1.0, 1.0), "celu": exponential(1.0, 1.0), "softplus": softplus}
    units |= {"selu": exponential(1.0507009873554805, 1.6732632423543772), "smooth_l1_loss": loss, "huber_loss": loss}
    return {(F, name): function for name, function in units.items()}
