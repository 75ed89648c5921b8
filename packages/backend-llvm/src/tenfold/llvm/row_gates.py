"""The native gate before a program over rows or columns: arrays in one piece are served without Python.

What it leaves (other layouts, several dimensions, long rows, half precision where statistics are kept) goes to the function in
Python, and what that refuses to the kernel beneath.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tenfold.llvm import session as sessions
from tenfold.llvm.elementwise import CACHED, DTYPES, FIXED, LOOPS, gate_words
from tenfold.llvm.memory import CACHED_FROM
from tenfold.llvm.programs import Program
from tenfold.llvm.storage import FLOATING, Stored

# Kinds of arguments: arrays of the data's shape; its last dimension's number; any one dimension or None for all; keepdim; 1 and
# a tuple with the last dimension's length, as ways to say that it is normalized over; None or a number for each column; eps;
# an array with a number for each row.
KINDS = {letter: n + 1 for n, letter in enumerate("rldk1tcns")}
RESULTS, RETURNS_ALL = 52, 53
# Kinds of results: of the data's shape, with a last dimension of 1, without the dimension.
RESULT_KINDS = {"r": 0, "s": 1, "d": 2}


def row_gated(
    serve: Callable[..., Any], arguments: str, results: str, program: Program, keys: Callable[[Stored], Iterable[Any]],
    *, serve_least: int = 0, returns_all: bool = False,
) -> Any:  # fmt: skip
    """What makes a kernel around the one beneath it. `arguments` and `results` have a letter each; `keys` gives for a dtype the
    program's key for each set of columns that are there (a bit each; or rows, then columns), None where there is none."""

    def wrapped(beneath: Any) -> Any:
        session = sessions.session()
        if session is None:
            return beneath
        roles = [KINDS[letter] for letter in arguments]
        words = gate_words(session, beneath, serve, roles, FLOATING, least=0, serve_least=serve_least)
        words[FIXED : FIXED + len(results)] = [RESULT_KINDS[letter] for letter in results]
        words[RESULTS], words[RETURNS_ALL] = len(results), returns_all
        for i, stored in enumerate(FLOATING):
            words[DTYPES + i], words[CACHED + i] = id(stored.dtype), CACHED_FROM // stored.size
            for variant, key in enumerate(keys(stored)):
                if key is not None:
                    program.enter(key, words, LOOPS + 4 * i + variant)
        return session.native.builtin("row_gate", words)

    return wrapped
