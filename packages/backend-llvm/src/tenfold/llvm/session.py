"""What is once in a process: the native functions, the threads and the memory; and what happens where they cannot be had."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from tenfold.llvm import call_paths
from tenfold.llvm.call_paths import Paths
from tenfold.llvm.compiler import unsuitable
from tenfold.llvm.memory import Memory
from tenfold.llvm.native.functions import native
from tenfold.llvm.threads import Pool


class Session:
    """The native functions with their threads and their memory."""

    def __init__(self) -> None:
        self.native = native()
        self.launch: Any = self.native.launch
        self.pool = Pool(self.native)
        self.memory = Memory(self.native)
        self.paths = Paths(self.native) if call_paths.possible() else None


_failures: list[str] = []
USED: list[list[Any]] = []  # while somebody asks (explaining.py): what is run, as (its owner, the key of its text)


@functools.cache
def session() -> Session | None:
    """The session, made on first use; None where there cannot be one, which a warning has said once."""
    reason = unsuitable()
    if reason:
        give_up("compiled kernels", reason)
        return None
    try:
        return Session()
    except Exception as error:  # noqa: BLE001 - whatever it is, NumPy serves
        give_up("compiled kernels", f"{type(error).__name__}: {error}")
        return None


def give_up(what: str, reason: str) -> None:
    """Say once why NumPy serves instead."""
    _failures.append(f"{what}: {reason}")
    if len(_failures) == 1:
        warnings.warn(f"tenfold.llvm: NumPy serves in place of {what}: {reason}", RuntimeWarning, stacklevel=2)


def use(owner: Any, *key: Any) -> None:
    """Note which compiled code a call runs."""
    for notes in USED:
        notes.append((owner, key))


def failures() -> list[str]:
    """What could not be compiled, and why."""
    return list(_failures)
