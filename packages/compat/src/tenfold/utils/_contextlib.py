"""`torch.utils._contextlib`: the base of contexts that are decorators, too."""

from __future__ import annotations

from tenfold.dispatch.gradmode import DecoratorContext as _DecoratorContextManager

__all__ = ["_DecoratorContextManager"]
