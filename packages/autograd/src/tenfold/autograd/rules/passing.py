"""Views that a rule makes for one product only: where nobody can see them, nobody keeps account of them.

A view of a tensor costs more than the product of small matrices: its memory gets a storage, and is told who views it. Outside
of layers and of graphs of gradients the view is gone when the product is there.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.tensor.tensor import wrap

# Rules that a package has in code of its own, by operator (and "on" a device that is not the CPU): what they return, or None
# where the rule here has to do it. Those of elementwise operators and reductions are asked by their nodes (`elsewhere`), others
# by rules.
TOGETHER: dict[str, Any] = {}


def whole(name: str, g: Any, *given: Any) -> tuple[Any, ...] | None:
    """An operator's gradients by code of the device's; None where it has none, or does not serve these."""
    found = None if g._key is CPU else TOGETHER.get(f"{name} on {g._key.type}")
    return None if found is None else found(g, *given)


def elsewhere(name: str, parameters: tuple[str, ...], g: Any, wanted: tuple[Any, ...], **saved: Any) -> tuple[Any, ...] | None:
    """The gradients of an operator's parameters that are wanted, by code of the device's, from what is saved."""
    found = TOGETHER.get(f"{name} on {g._key.type}")
    return None if found is None else found(g, parameters, wanted, **saved)


def is_unseen(x: Any) -> bool:
    """Whether a view of this tensor that is made now can be seen by nothing but the rule."""
    return x._key is CPU and not STATE.grad_enabled and not RUNTIME["ACTIVE"] and type(x._array) is np.ndarray


def turned(x: Any) -> Any:
    """The last two dimensions transposed."""
    return wrap(x._array.swapaxes(-2, -1), CPU) if is_unseen(x) else x.transpose(-2, -1)


def as_rows(x: Any) -> Any:
    """All dimensions but the last one as one; a matrix is itself, a vector becomes one row."""
    shape = x._array.shape
    if len(shape) == 2:
        return x
    rows = prod(shape[:-1]), shape[-1]
    return wrap(x._array.reshape(rows), CPU) if is_unseen(x) else x.reshape(rows)
