"""Environments that nox's sessions make apart from their own: the one that builds wheels, and those that wheels go into."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from workspace import ROOT


def new_environment(session: Any, home: Path) -> str:
    """Make an environment with pip at `home`, apart from nox's own, and return its Python."""
    session.run_install(sys.executable, "-m", "virtualenv", "--quiet", str(home), external=True)
    return str(home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def builder(session: Any) -> str:
    """The Python of a small environment with the build tools; it is made once per checkout."""
    note = ROOT / ".nox" / "builder" / "python.txt"
    if not note.exists():
        python = new_environment(session, note.parent)
        tools = ("build>=1.2", "editables>=0.5", "hatchling>=1.27")
        session.run_install(python, "-m", "pip", "install", "--quiet", *tools, external=True)
        note.write_text(python, encoding="utf-8")  # last, so that an interrupted start is made good
    return note.read_text(encoding="utf-8")
