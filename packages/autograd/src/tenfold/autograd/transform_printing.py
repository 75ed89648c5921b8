"""What `print` shows of tensors inside functions that are being differentiated: which of them track the tensor."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.levels import SCOPES, bare
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.printing import repr_of as plain_repr_of
from tenfold.tensor.tensor import Tensor


def repr_of(tensor: Tensor) -> str:
    """The text of a tensor of no level, inside functions being differentiated or not."""
    scopes = tracking(tensor) if SCOPES.depth else []
    return in_scopes(plain_repr_of(bare(tensor)), scopes) if scopes else plain_repr_of(tensor)


def in_scopes(text: str, scopes: list[Any]) -> str:
    """The text of a value, inside those of what tracks it, outermost function innermost."""
    for scope in scopes:
        text = f"GradTrackingTensor(lvl={scope.shown}, value={text})"
    return text


def tracking(tensor: Any) -> list[Any]:
    """The open scopes on whose arguments a tensor depends, on the tape of its own level, outermost first."""
    level = tensor._key.transform if tensor._key.level is not None else None
    scopes = [s for s in SCOPES.open if s.transform is level]
    if not scopes or tensor._node is None:
        return []
    stack, seen = [tensor._node], {tensor._node}
    while stack:
        for n in stack.pop()._next:
            if n is not None and n not in seen:
                seen.add(n)
                stack.append(n)
    return [s for s in scopes if not seen.isdisjoint(s.starts)]


SERVICES.repr_of = repr_of  # in the place of core's, which it asks

__all__ = ["in_scopes", "repr_of", "tracking"]
