"""Build the wheels of several hatchling projects in one process: python tools/build_wheels.py OUT [OPTION] FOLDER...

With --archives each project's source archive is written, too, and its wheel is built from what the archive holds.
One process builds all packages in about a second; a build environment per package would cost several seconds each.
Needs hatchling (and editables for --editable) in the environment that runs it.
"""

from __future__ import annotations

import argparse
import os
import tarfile
import tempfile
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


def build_archive(folder: Path, out: Path) -> Path:
    """Build one project's source archive into `out`, and the wheel of what it holds; return the archive's path."""
    start = Path.cwd()
    os.chdir(folder)
    try:
        archive = Path(out, build.build_sdist(str(out)))
    finally:
        os.chdir(start)
    with tempfile.TemporaryDirectory() as unpacked, tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
        build_wheel(Path(unpacked) / archive.name.removesuffix(".tar.gz"), out, editable=False)
    return archive


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the wheels of several hatchling projects in one process.")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--editable", action="store_true", help="wheels that point at the sources")
    kinds.add_argument("--archives", action="store_true", help="source archives, and wheels built from them")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for folder in args.folders:
        print(build_archive(folder, out) if args.archives else build_wheel(folder, out, args.editable))


if __name__ == "__main__":
    main()
