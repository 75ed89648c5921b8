"""Pythons of this machine besides the one that runs nox."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

NATIVE_FROM = 12  # the minor version from which tenfold-backend-llvm has native call paths
NEWER = (13, 12, 14)  # minor versions, in the order in which they are wanted


def newer_python() -> str | None:
    """The path of a Python that has native call paths, where the one that runs this has none; None where there is no such."""
    return None if sys.version_info >= (3, NATIVE_FROM) else next(_found(), None)


def _found() -> Iterator[str]:
    """Those of pyenv, whose commands on PATH stand for the version that is switched on; then those on PATH."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in NEWER:
        yield from (str(path) for path in sorted(home.glob(f"3.{minor}.*/bin/python"), reverse=True))
        path = shutil.which(f"python3.{minor}")
        if path is not None and Path(path).parent.name != "shims":
            yield path
