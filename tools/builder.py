"""What nox's sessions make apart from their own environments: the one that builds wheels, those that wheels go into, wheels."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock  # type: ignore[import-not-found]  # comes with nox; types are checked without it
from workspace import ROOT

# Of `nox --parallel` each session is a process, which inherits the name of the run from the process that started it.
RUN = os.environ.setdefault("TENFOLD_NOX_RUN", uuid.uuid4().hex)


def one_at_a_time(name: str) -> Any:
    """A context that one process of this checkout is in, and others wait for."""
    (ROOT / ".nox").mkdir(exist_ok=True)
    return FileLock(ROOT / ".nox" / f"{name}.lock")


def once(folder: Path, make: Callable[[], None]) -> Path:
    """Have `make` fill a folder once per run of nox, in whichever session comes first; others that need it meanwhile wait."""
    note = ROOT / ".nox" / f"{folder.name}.run"
    with one_at_a_time(folder.name):
        if not note.exists() or note.read_text(encoding="utf-8") != RUN:
            shutil.rmtree(folder, ignore_errors=True)
            make()
            note.write_text(RUN, encoding="utf-8")  # last, so that a failure is not taken for what was asked for
    return folder


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
    with one_at_a_time("builder"):
        if not note.exists():
            python = new_environment(session, note.parent)
            tools = ("editables>=0.5", "hatchling>=1.27")
            session.run_install(python, "-m", "pip", "install", "--quiet", *tools, external=True)
            note.write_text(python, encoding="utf-8")  # last, so that an interrupted start is made good
    return note.read_text(encoding="utf-8")
