"""Machine code on disk, so that a process begins with what an earlier one compiled.

A file holds a digest and the code. Writers make a file of their own and rename it, so that readers in other processes see all
of it or nothing; what does not agree with its digest is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from tenfold.settings import environment

_DIGEST = 32


def folder() -> Path:
    """Where the machine code is kept: under TENFOLD_HOME. It can be deleted at any time."""
    return Path(environment.HOME.read()).expanduser() / "llvm"


def key_of(*parts: str) -> str:
    """The name of a file: of the processor, the compiler and the text."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def find(key: str) -> bytes | None:
    """The code kept under a key, None where there is none or it is damaged."""
    try:
        content = (folder() / f"{key}.o").read_bytes()
    except OSError:
        return None
    code = content[_DIGEST:]
    return code if hashlib.sha256(code).digest() == content[:_DIGEST] else None


def keep(key: str, code: bytes) -> None:
    """Write the code; where nothing can be written, each process compiles for itself."""
    name = ""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder(), suffix=".part", delete=False) as file:
            name = file.name
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(name, folder() / f"{key}.o")
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
