"""Environments that nox's sessions make apart from their own: the one that builds wheels, and those that wheels go into."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workspace import ROOT


def new_environment(session: Any, home: Path) -> str:
    """Make an environment with pip at `home`, apart from nox's own, and return its Python."""
    session.run_install(sys.executable, "-m", "virtualenv", "--quiet", str(home), external=True)
    return str(home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def installer(python: str) -> Callable[..., list[str]]:
    """The command line of pip for an environment, given what pip is to do; uv's where there is one, in a tenth of the time."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))

    def pip(what: str, *options: str) -> list[str]:
        if uv is not None:
            return [uv, "pip", what, "--python", python, *options]
        return [python, "-m", "pip", what, *options, *(["--no-compile"] if what == "install" else [])]

    return pip


def builder(session: Any) -> str:
    """The Python of a small environment with the build tools; it is made once per checkout."""
    note = ROOT / ".nox" / "builder" / "python.txt"
    if not note.exists():
        python = new_environment(session, note.parent)
        tools = ("editables>=0.5", "hatchling>=1.27")
        session.run_install(python, "-m", "pip", "install", "--quiet", *tools, external=True)
        note.write_text(python, encoding="utf-8")  # last, so that an interrupted start is made good
    return note.read_text(encoding="utf-8")
