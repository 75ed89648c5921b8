"""The checks of `torch.library.opcheck`: whether a program's own operator does what its declaration says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold._library.custom_ops import tensors

CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """What `opcheck` found wrong."""


def check(op: Any, args: Sequence[Any], kwargs: dict[str, Any], names: str | Sequence[str], raising: bool) -> dict[str, Any]:
    """Run the checks that are named: each with "SUCCESS" or its error."""
    chosen = (names,) if isinstance(names, str) else tuple(names)
    rules: dict[str, Callable[..., None]] = {
        "test_schema": _declared, "test_autograd_registration": _differentiable, "test_faketensor": _without_numbers,
        "test_aot_dispatch_dynamic": _gradients, "test_aot_dispatch_static": _gradients,
    }  # fmt: skip
    if unknown := set(chosen) - set(rules):
        raise ValueError(f"opcheck: test_utils must be of {sorted(rules)}, got {sorted(unknown)}")
    results: dict[str, Any] = {}
    for name in chosen:
        try:
            rules[name](op, *_copies(args, kwargs))
            results[name] = "SUCCESS"
        except Exception as error:
            if raising:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)") from error
            results[name] = error
    return results


def _copies(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments again, for a check that may change them."""

    def copied(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(copied(item) for item in value)
        return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value

    return [copied(value) for value in args], {name: copied(value) for name, value in kwargs.items()}


def _named(op: Any, args: list[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, Tensor]]:
    for name, value in op._named(args, kwargs):
        for tensor in tensors(value):
            yield name, tensor


def _declared(op: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """No argument is changed, and none is returned, but what the declaration names as changed."""
    given = list(_named(op, args, kwargs))
    before = [tensor.detach().clone() for _, tensor in given]
    with tenfold.no_grad():
        result = op(*args, **kwargs)
    for (name, tensor), old in zip(given, before, strict=True):
        if name not in op._mutates_args and not tenfold.equal(old.nan_to_num(), tensor.detach().nan_to_num()):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
        for returned in tensors(result):
            if returned.numel() and returned.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
                raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")


def _differentiable(op: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """A result depends on the arguments that ask for gradients, if it is of a kind that can."""
    asked = any(tensor.requires_grad for _, tensor in _named(op, args, kwargs))
    results = [result for result in tensors(op(*args, **kwargs)) if result.is_floating_point() or result.is_complex()]
    if asked and results and not any(result.requires_grad for result in results):
        raise RuntimeError("the result does not depend on the arguments that require gradients: use register_autograd")


def _without_numbers(op: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """The function for tensors without numbers gives results of the same shapes, strides and dtypes."""
    if "meta" not in op._kernels and op._schema is not None and op._schema.returns_nothing():
        return
    if "meta" not in op._kernels:
        raise RuntimeError(
            f"There was no fake impl registered for {op!r}. This is necessary for torch.compile/export/fx tracing to work. "
            f"Please use `{op._name}.register_fake` to add an fake impl."
        )

    def on_meta(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(on_meta, value))
        return value.detach().to("meta") if isinstance(value, Tensor) else value

    with tenfold.no_grad():
        real = list(tensors(op(*args, **kwargs)))
        fake = list(tensors(op._kernels["meta"](*map(on_meta, args), **{name: on_meta(value) for name, value in kwargs.items()})))
    if len(real) != len(fake):
        raise RuntimeError(f"the fake impl gives {len(fake)} tensors, the operator {len(real)}")
    for one, other in zip(real, fake, strict=True):
        for what in ("shape", "dtype"):
            if getattr(one, what) != getattr(other, what):
                raise RuntimeError(
                    f"the fake impl's result has {what} {getattr(other, what)}, the operator's {getattr(one, what)}"
                )
        if one.numel() and one.stride() != other.stride():
            raise RuntimeError(f"Mismatched strides: the fake impl's result has {other.stride()}, the operator's {one.stride()}")


def _gradients(op: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """The gradients can be computed, and the operator can be described without numbers."""
    _without_numbers(op, args, kwargs)
    results = [result for result in tensors(op(*args, **kwargs)) if result.requires_grad]
    if op._backward is not None and results:
        tenfold.autograd.backward([result.sum() for result in results])
