"""Several modules, each with arguments of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.nn.module import Module


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The result of each module for its arguments, one after another: devices work by themselves once they are asked."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    named = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    given = [one if isinstance(one, (tuple, list)) else (one,) for one in inputs]
    return [module(*positional, **keywords) for module, positional, keywords in zip(modules, given, named)]
