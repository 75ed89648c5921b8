"""Who registers what: while a plugin's module is imported, what it attaches has an owner and can be taken back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_owner: Any = None  # the plugin that is being loaded
_undo: list[Callable[[], object]] | None = None


def current_owner(function: Any) -> str:
    """Who is attaching something: the plugin being loaded, else the function's package."""
    if _owner is not None:
        return str(_owner)
    return str(getattr(function, "__module__", None) or type(function).__name__)


def loading() -> bool:
    """Whether a plugin is being loaded."""
    return _owner is not None


def on_failure(undo: Callable[[], object]) -> None:
    """Take a registration back if the plugin that is being loaded fails later."""
    if _undo is not None:
        _undo.append(undo)


@contextmanager
def registering(owner: Any) -> Iterator[list[Callable[[], object]]]:
    """While a plugin's module is imported: the steps that take back what it has attached so far; taken when it fails."""
    global _owner, _undo
    outer, steps = (_owner, _undo), []  # type: tuple[Any, Any], list[Callable[[], object]]
    _owner, _undo = owner, steps
    try:
        yield steps
    except BaseException:
        for step in reversed(steps):
            step()
        raise
    finally:
        _owner, _undo = outer
