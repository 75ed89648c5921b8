"""PyTorch's `torch._foreach_NAME`: an operator on each tensor of a list, which optimizers outside PyTorch call.

Each is `torch.NAME` of one tensor after the other, written in place by `_foreach_NAME_`. A second argument is a number or a
tensor for all, or a list with one for each.

>>> import tenfold
>>> tenfold._foreach_add([tenfold.ones(2), tenfold.zeros(1)], [1.0, 2.0])
(tensor([2., 2.]), tensor([2.]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import zero_all

Tensors = Sequence[Tensor]
_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt "
    "sigmoid sign sin sinh sqrt tan tanh trunc"
).split()
_BINARY = "add sub mul div clamp_min clamp_max maximum minimum pow".split()
_TERNARY = "addcdiv addcmul lerp".split()
_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}  # what takes a number where the operator takes tensors


def _each(name: str, values: Any, count: int) -> Sequence[Any]:
    """One value for each tensor; RuntimeError where a list is of another length."""
    if not isinstance(values, (list, tuple)):
        return [values] * count
    if len(values) != count:
        raise RuntimeError(f"{name}: Tensor lists must have the same number of tensors, got {count} and {len(values)}")
    return values


def _checked(name: str, tensors: Any) -> Tensors:
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
    return tensors


def _unary(name: str) -> Callable[..., Any]:
    def run(self: Tensors) -> tuple[Tensor, ...]:
        return tuple(getattr(x, name)() for x in _checked(f"_foreach_{name}", self))

    return run


def at_once(what: str, tensors: Any, others: Sequence[Any], a: Any, b: Any = 0.0) -> bool:
    """Whether the device has done so to all tensors, each beside those of other lists, in one launch; only in place."""
    many = getattr(tensors[0].device.backend, "many", None) if isinstance(tensors[0], Tensor) else None
    if many is None or any(type(x) not in (int, float) for x in (a, b)):
        return False
    lists = all(isinstance(column, (list, tuple)) and len(column) == len(tensors) for column in others)
    return lists and many.change(what, tensors, others, a, b)


def _binary_at_once(name: str, tensors: Tensors, other: Any, alpha: Any = 1) -> bool:
    """The same of operators of two tensors, or of a tensor and a number."""
    if name not in ("add_", "sub_", "mul_", "div_"):
        return False
    number = type(other) in (int, float)
    factor = other * alpha if number else alpha
    return at_once(
        "add" if name == "sub_" else name[:-1], tensors, [] if number else [other], -factor if name == "sub_" else factor
    )


def _binary(name: str) -> Callable[..., Any]:
    base = name.removesuffix("_")
    suffix = name[len(base) :]

    def run(self: Any, other: Any, **options: Any) -> tuple[Tensor, ...]:
        if not isinstance(self, (list, tuple)):  # one base of several powers
            return tuple(tenfold.pow(self, x) for x in other)
        others = _each(f"_foreach_{name}", other, len(_checked(f"_foreach_{name}", self)))
        if suffix and not options.keys() - {"alpha"} and _binary_at_once(name, self, other, **options):
            return tuple(self)
        return tuple(_one(base, suffix, x, y)(y, **options) for x, y in zip(self, others, strict=True))

    return run


def _one(base: str, suffix: str, x: Tensor, y: Any) -> Any:
    """The method of a tensor that takes this kind of second argument."""
    if isinstance(y, Tensor):
        base = {number: tensors for tensors, number in _NUMBERS.items()}.get(base, base)
        return getattr(x, base + suffix) if hasattr(x, base + suffix) else lambda y: x.copy_(getattr(x, base)(y))
    return getattr(x, _NUMBERS.get(base, base) + suffix)


def _ternary(name: str) -> Callable[..., Any]:
    lerps = name.startswith("lerp")

    def run(self: Tensors, tensors1: Tensors, second: Any = None, *rest: Any, **options: Any) -> tuple[Tensor, ...]:
        count = len(_checked(f"_foreach_{name}", self))
        if second is None:
            second = options.pop("weight" if lerps else "tensors2")
        columns = [_each(f"_foreach_{name}", values, count) for values in (tensors1, second)]
        if lerps:
            if name == "lerp_" and at_once("lerp", self, [tensors1], second):
                return tuple(self)
            return tuple(getattr(x, name)(y, z) for x, y, z in zip(self, *columns, strict=True))
        value = next(iter([*rest, *(options[key] for key in ("value", "scalars") if key in options)]), 1)
        values = value.tolist() if isinstance(value, Tensor) and value.ndim else value
        if name[-1] == "_" and at_once(name[:-1], self, columns, value):
            return tuple(self)
        columns.append(_each(f"_foreach_{name}", values, count))
        return tuple(getattr(x, name)(y, z, value=v) for x, y, z, v in zip(self, *columns, strict=True))

    return run


def _foreach_norm(self: Tensors, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """The norm of each tensor."""
    first: Any = _checked("_foreach_norm", self)[0]
    many = getattr(first.device.backend, "many", None) if isinstance(first, Tensor) else None
    if many is not None and dtype in (None, first.dtype) and type(ord) in (int, float):
        at_once = many.norms(self, float(ord))
        if at_once is not None:
            return tuple(at_once)
    return tuple(tenfold.linalg.vector_norm(x, ord, dtype=dtype) for x in _checked("_foreach_norm", self))


def _foreach_max(self: Tensors) -> tuple[Tensor, ...]:
    """The largest element of each tensor."""
    return tuple(x.max() for x in _checked("_foreach_max", self))


def _foreach_copy_(self: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
    """The elements of other tensors, in place."""
    if self and at_once("copy", self, [src], 0.0):
        return self
    for x, y in zip(self, _each("_foreach_copy_", src, len(self)), strict=True):
        x.copy_(y, non_blocking=non_blocking)
    return self


def _foreach_zero_(self: Tensors) -> None:
    """Zeros, in place."""
    zero_all(self)


def _install() -> None:
    for names, make in ((_UNARY, _unary), (_BINARY, _binary), (_TERNARY, _ternary)):
        for base in names:
            for name in (base, base + "_"):
                function = make(name)
                function.__name__ = function.__qualname__ = f"_foreach_{name}"
                function.__doc__ = f"`{name}` of each tensor."
                globals()[f"_foreach_{name}"] = function


_install()
