"""Copy a package's project with its next minor version: python tools/next_version.py FOLDER TARGET

What its siblings' ranges say about that version is then seen by installing it beside them.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path


def next_minor(version: str) -> str:
    """The version after this one that may bring something new.

    >>> next_minor("0.1.4")
    '0.2.0'
    """
    major, minor, *_ = version.split(".")
    return f"{major}.{int(minor) + 1}.0"


def copy_bumped(folder: Path, target: Path) -> str:
    """Copy the project to `target`, give it the next minor version, and return that."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    pyproject = target / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    found = re.search(r'(?m)^version = "([^"]+)"$', text)
    if found is None:
        raise SystemExit(f"{folder}/pyproject.toml has no line 'version = ...'")
    version = next_minor(found[1])
    pyproject.write_text(text.replace(found[0], f'version = "{version}"', 1), encoding="utf-8")
    return version


if __name__ == "__main__":
    print(copy_bumped(Path(sys.argv[1]), Path(sys.argv[2])))
