"""Check that wheels can share one environment: python tools/check_wheels.py WHEEL...

No two hold the same file, each holds only its own folder below `tenfold` with a py.typed marker and its licence, and
`tenfold/__init__.py` comes from core alone. Their sizes are printed; core alone is small enough for any place.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

LIMITS_BYTES = {"tenfold_core": 300_000}  # of wheels; docs/adr/0007-what-core-weighs.md
OUTSIDE = {"tenfold_compat": {"tenfold_as_torch.pth", "_tenfold_as_torch.py"}}  # beside tenfold/, read at Python's start


def check(wheels: list[Path]) -> list[str]:
    """What is wrong with these wheels, one line each."""
    found = [complaint for path in wheels for complaint in check_size(path)]
    owners: dict[str, str] = {}
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
        for name in files:
            if name in owners:
                found.append(f"{name} is in {owners[name]} and in {path.name}; whichever is installed last would win")
            owners[name] = path.name
        found += check_contents(path, files)
    return found


def check_size(path: Path) -> list[str]:
    """Whether a wheel is larger than it may be."""
    size, limit = path.stat().st_size, LIMITS_BYTES.get(path.name.split("-")[0])
    return [] if limit is None or size <= limit else [f"{path.name} has {size} bytes; {limit} are the most that it may have"]


def check_contents(path: Path, files: list[str]) -> list[str]:
    """What is wrong with one wheel's list of files."""
    found = [
        f"{path.name} holds {name}; a wheel holds only its folder below tenfold/"
        for name in files
        if not name.startswith("tenfold/") and ".dist-info/" not in name and name not in OUTSIDE.get(path.name.split("-")[0], ())
    ]
    is_core = path.name.startswith("tenfold_core-")
    top = [name for name in files if name.startswith("tenfold/__init__.")]
    if top != (["tenfold/__init__.py"] if is_core else []):
        found.append(f"{path.name} holds {top or 'no tenfold/__init__.py'}; core holds tenfold/__init__.py, no other wheel does")
    has_code = any(name.endswith(".py") for name in files)
    if has_code and not any(name.endswith("/py.typed") for name in files):
        found.append(f"{path.name} has no py.typed; type checkers would ignore its annotations")
    if not any(name.endswith("/licenses/LICENSE") for name in files):
        found.append(f"{path.name} has no licence")
    return found


def main() -> int:
    wheels = [Path(argument) for argument in sys.argv[1:]]
    for path in wheels:
        print(f"{path.stat().st_size / 1000:8.1f} kB  {path.name}")
    found = check(wheels)
    print("\n".join([*found, f"check_wheels: {len(sys.argv) - 1} wheels, {len(found)} problems"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
