"""Hold every Python file to a length that is read in one go.

    python tools/check_lengths.py

A file has at most 400 lines, comments and examples included. One that grows over it is taken apart where a newcomer would look
for the parts; lines are not squeezed for it. Files that a tool writes are exempt, each by its name here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from workspace import ROOT

MOST = 400
FOLDERS = ("packages", "tools", "examples", "benchmarks", "docs")
# Files that a tool writes, with the tool: their length is that of what they list.
GENERATED = {
    "packages/core/src/tenfold/dispatch/late_operators.py": "tools/make_stubs.py",
}


def files(root: Path) -> Iterator[Path]:
    """The Python files of the repository; build folders and environments do not count."""
    yield from sorted(root.glob("*.py"))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            inside = path.relative_to(root).parts
            if not any(part.startswith(".") or part in ("build", "dist", "__pycache__") for part in inside):
                yield path


def check(root: Path = ROOT) -> list[str]:
    """Every file under `root` that is too long."""
    found = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST and name not in GENERATED:
            found.append(
                f"{name}: {lines} lines, at most {MOST} are accepted; move a part with a subject of its own to a file "
                f"that has this subject, or to a new one named for it"
            )
    return found


def main() -> int:
    found = check()
    print("\n".join([*found, f"check_lengths: {len(found)} file{'s' * (len(found) != 1)} too long"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
