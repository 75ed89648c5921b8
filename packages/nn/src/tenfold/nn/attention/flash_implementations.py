"""Implementations of flash attention that other packages bring, by name; a program chooses one. Tenfold has none under a name."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class FlashAttentionHandle(Protocol):
    """What an implementation's function may return: `remove` takes the implementation back."""

    def remove(self) -> None: ...


_known: dict[str, Callable[..., FlashAttentionHandle | None]] = {}
_active: list[tuple[str, FlashAttentionHandle]] = []  # at most one


def register_flash_attention_impl(impl: str, *, register_fn: Callable[..., FlashAttentionHandle | None]) -> None:
    """Name an implementation; `register_fn` attaches it when `activate_flash_attention_impl` asks for it."""
    _known[impl] = register_fn


def activate_flash_attention_impl(impl: str) -> None:
    """Attach the implementation of this name, in place of one that is active. Raises ValueError for an unknown name.

    >>> activate_flash_attention_impl("FA4")
    Traceback (most recent call last):
    ValueError: Unknown flash attention impl 'FA4'. Available implementations: []
    """
    restore_flash_attention_impl(_raise_warn=False)
    if impl not in _known:
        raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}")
    handle = _known[impl]()
    if handle is not None:
        _active.append((impl, handle))


def list_flash_attention_impls() -> list[str]:
    """The names that `activate_flash_attention_impl` knows."""
    return sorted(_known)


def current_flash_attention_impl() -> str | None:
    """The name of the one that is active, or None."""
    return _active[-1][0] if _active else None


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Take the active implementation back; without one, a line in the log says so."""
    if _active:
        _active.pop()[1].remove()
    elif _raise_warn:
        logging.getLogger(__name__).warning("restore_flash_attention_impl: no implementation is active")
