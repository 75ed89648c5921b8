"""Calls of Tenfold beside PyTorch's: what came of one, an error too, and whether both were refused."""

from __future__ import annotations

from typing import Any


def outcome(call: Any, *given: Any, **named: Any) -> Any:
    """The result of a call, or its error."""
    try:
        return call(*given, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return error


def refused_alike(ours: Any, theirs: Any, what: Any) -> bool:
    """Whether PyTorch refuses a call, as then Tenfold must by an error of that type, and only then."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (what, ours, theirs)
        return True
    assert not isinstance(ours, Exception), (what, ours)
    return False
