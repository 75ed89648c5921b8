"""The native gate before a kernel that is chosen in Python: calls of other dtypes and small ones pass it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.llvm import session as sessions
from tenfold.llvm.elementwise import TENSOR, gate_words
from tenfold.llvm.storage import FLOATING, Stored


def gated(serve: Callable[..., Any], arguments: int, least: int = 0, dtypes: tuple[Stored, ...] = FLOATING) -> Any:
    """What makes a kernel around the one beneath it: `serve` gets the calls whose array is of these dtypes and large enough.

    It returns NotImplemented for what the kernel beneath has to do.
    """

    def wrapped(beneath: Any) -> Any:
        session = sessions.session()
        if session is None:
            return beneath
        words = gate_words(session, beneath, serve, [TENSOR] + [0] * (arguments - 1), dtypes, least=least, serve_least=least)
        return session.native.builtin("gate", words)

    return wrapped
