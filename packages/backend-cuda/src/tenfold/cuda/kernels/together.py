"""Gradients of an operator that its rule may have from here at once: arrays in, arrays out, where nobody can see how."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from tenfold.cuda.attaching import where_its_arrays_are
from tenfold.cuda.playing import played
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.dtypes import dtype as Dtype


def dtype_or(dtype: Any, other: Any) -> Any:
    """The dtype that a rule has noted of a parameter, or another one where there is no parameter."""
    return dtype if isinstance(dtype, np.dtype) else other


def unseen(function: Callable[..., Any], switches: Callable[[], Any] | None = None) -> Callable[..., Any]:
    """A function of arrays, whose calls can be played again, as one of tensors; None where a layer or a graph would see them.

    It may say NotImplemented, which is None, too.
    """
    run = played(where_its_arrays_are(function), switches, function)

    def call(g: Any, *given: Any) -> tuple[Any, ...] | None:
        key = g._key
        if STATE.grad_enabled or RUNTIME["ACTIVE"] or key.level is not None:
            return None
        arguments = [g._array]
        for x in given:
            if isinstance(x, Tensor):
                if x._key is not key:
                    return None
                x = x._array
            elif isinstance(x, Dtype):
                x = x.numpy
            arguments.append(x)
        found = run(*arguments)
        return None if found is NotImplemented else tuple([wrap(x, key) for x in found])

    return call


def register(name: str, function: Callable[..., Any], switches: Callable[[], Any] | None = None) -> None:
    """Offer a function of arrays as an operator's gradients."""
    offer(name, unseen(function, switches))


def offer(name: str, gradients: Callable[..., Any]) -> None:
    """Offer a function of tensors as an operator's gradients, which a rule asks for by this name."""
    with suppress(ImportError):
        from tenfold.autograd.rules.passing import TOGETHER  # tenfold-autograd is an extra

        TOGETHER[f"{name} on cuda"] = gradients
