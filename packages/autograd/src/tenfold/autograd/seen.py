"""Gradients as programs see them.

A mean's gradient is one number over all elements, an expanded view that the engine's own nodes read without copying. Programs
(hooks, custom functions, `autograd.grad`) get it in memory of its own, as PyTorch makes it, for they write into it. A sum's is
expanded there, too.
"""

from __future__ import annotations

from typing import Any


def to_expand(g: Any) -> Any:
    """Note of a gradient that programs are to see views of it, which are expanded, in memory of their own."""
    g._copied_when_seen = True
    return g


def seen(g: Any) -> Any:
    """A gradient that a program is about to see, or those of a node of several results; None where there is none."""
    if type(g) is list:
        return [seen(one) for one in g]
    base = None if g is None else g._base
    return g.contiguous() if base is not None and getattr(base, "_copied_when_seen", False) else g
