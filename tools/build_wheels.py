"""Build the wheels of several hatchling projects in one process: python tools/build_wheels.py OUT [--editable] FOLDER...

One process builds all packages in about a second; a build environment per package would cost several seconds each.
Needs hatchling (and editables for --editable) in the environment that runs it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from hatchling import build


def build_wheel(folder: Path, out: Path, editable: bool) -> Path:
    """Build one project's wheel into `out` and return its path."""
    start = Path.cwd()
    os.chdir(folder)  # a PEP 517 hook finds its project by the working directory
    try:
        make = build.build_editable if editable else build.build_wheel
        name: str = make(str(out))
        return out / name
    finally:
        os.chdir(start)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the wheels of several hatchling projects in one process.")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--editable", action="store_true", help="wheels that point at the sources")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for folder in args.folders:
        print(build_wheel(folder, out, args.editable))


if __name__ == "__main__":
    main()
