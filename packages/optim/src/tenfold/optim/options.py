"""What options of optimizers may be: a check for each name, once for all optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenfold import Tensor

Check = Callable[[Any], None]


def given(scope: Mapping[str, Any], last: str = "") -> dict[str, Any]:
    """The options among an `__init__`'s `locals()`: its signature is where they are named and have their defaults.

    Those named in `last` come last, for the groups that PyTorch writes in another order than its signature's.
    """
    options = {name: value for name, value in scope.items() if name not in ("self", "params", "__class__")}
    return options | {name: options.pop(name) for name in last.split()}


def not_negative(spoken: str) -> Check:
    """A check that refuses numbers below zero and NaN."""
    return accept(lambda value: value >= 0.0, f"Invalid {spoken}: {{}}")


def accept(holds: Callable[[Any], Any], message: str) -> Check:
    """A check that raises ValueError with `message` about a value for which `holds` is false."""

    def check(value: Any) -> None:
        if not holds(value):
            raise ValueError(message.format(value))

    return check


def one_element(value: Any) -> None:
    """Refuse a learning rate that is a tensor of several elements."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def betas(value: Any) -> None:
    """Refuse averages' weights outside [0, 1), and a float beside a tensor."""
    if len({isinstance(beta, Tensor) for beta in value}) > 1:
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(value):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


# An optimizer's own table, `checks`, overrides these by name.
CHECKS: dict[str, Check] = {
    "lr": not_negative("learning rate"),
    "eps": not_negative("epsilon value"),
    "betas": betas,
    "rho": accept(lambda value: 0.0 <= value <= 1.0, "Invalid rho value: {}"),
    **{
        name: not_negative(f"{name} value")
        for name in ("alpha", "initial_accumulator_value", "lr_decay", "momentum", "momentum_decay", "weight_decay")
    },
}


def check_options(options: Mapping[str, Any], own: Mapping[str, Check]) -> None:
    """Raise the first error that an option's check has, then what choices exclude each other."""
    one_element(options.get("lr"))
    for name, check in {**CHECKS, **own}.items():
        if name in options:
            check(options[name])
    of_adam = "amsgrad" in options  # others read the number
    if of_adam and isinstance(options.get("lr"), Tensor) and options.get("foreach") and options.get("capturable") is False:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    if options.get("fused") and options.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")
    if options.get("fused") and options.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
