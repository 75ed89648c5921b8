"""The packages of this repository as their pyproject files declare them; nothing about them is kept by hand elsewhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENTRY_POINT_GROUP = "tenfold"


def distribution_name(requirement: str) -> str:
    """The normalised name in a requirement: "Tenfold_Core[io]>=0.1; ..." is "tenfold-core"."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    if match is None:
        raise ValueError(f"not a requirement: {requirement!r}; expected a distribution name first, such as 'tenfold-core>=0.1'")
    return re.sub(r"[-_.]+", "-", match[1]).lower()


@dataclass(frozen=True)
class Package:
    """One folder with a pyproject.toml."""

    folder: Path
    name: str
    requires: tuple[str, ...]
    extras: dict[str, tuple[str, ...]] = field(hash=False)
    test_requires: tuple[str, ...]
    entry_points: dict[str, str] = field(hash=False)
    includes: tuple[str, ...]
    version: str = "0"
    has_code: bool = True

    @property
    def short(self) -> str:
        """The folder's own name, as nox's sessions show it: "core", "backend-cuda"."""
        return self.folder.name

    @property
    def source(self) -> Path:
        return self.folder / "src"

    @property
    def import_names(self) -> tuple[str, ...]:
        """The dotted names that the wheel provides, its own package first: "src/tenfold/cuda" is "tenfold.cuda".

        None where the wheel has no code: it only brings others, or declarations for type checkers.
        """
        if not self.has_code:
            return ()
        if not self.includes or not all(include.startswith("src/") for include in self.includes):
            raise ValueError(
                f"{self.folder / 'pyproject.toml'}: the wheel target's only-include must be folders and modules under src/"
            )
        return tuple(include.removeprefix("src/").removesuffix(".py").replace("/", ".") for include in self.includes)

    @property
    def import_name(self) -> str:
        """The package that the distribution is named for."""
        return self.import_names[0]


def read_package(pyproject: Path) -> Package:
    """Read what a pyproject.toml declares."""
    data: dict[str, Any] = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = data["project"]
    wheel = data.get("tool", {}).get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    includes = tuple(wheel.get("only-include", ()))
    return Package(
        folder=pyproject.parent,
        name=distribution_name(project["name"]),
        requires=tuple(project.get("dependencies", ())),
        extras={extra: tuple(needs) for extra, needs in project.get("optional-dependencies", {}).items()},
        test_requires=tuple(data.get("dependency-groups", {}).get("test", ())),
        entry_points=dict(project.get("entry-points", {}).get(ENTRY_POINT_GROUP, {})),
        includes=includes,
        version=project["version"],
        has_code=not wheel.get("bypass-selection", False) and not (includes and all(i.endswith(".pyi") for i in includes)),
    )


@cache
def packages(root: Path = ROOT) -> dict[str, Package]:
    """Tenfold's own packages by folder name, dependencies before dependents."""
    found = [read_package(path) for path in sorted(root.glob("packages/*/pyproject.toml"))]
    return {package.short: package for package in sorted(found, key=lambda p: (len(siblings(p.requires, found)), p.short))}


@cache
def example_plugins(root: Path = ROOT) -> dict[str, Package]:
    """The example projects that register an entry point in the group "tenfold", by folder name."""
    found = (read_package(path) for path in sorted(root.glob("examples/*/pyproject.toml")))
    return {package.short: package for package in found if package.entry_points}


def siblings(requirements: Iterable[str], among: Iterable[Package]) -> list[Package]:
    """The packages among `among` that the requirements name, directly or through one another, in `among`'s order."""
    by_name = {package.name: package for package in among}
    found: set[str] = set()
    open_names = [distribution_name(requirement) for requirement in requirements]
    while open_names:
        name = open_names.pop()
        if name in by_name and name not in found:
            found.add(name)
            open_names += [distribution_name(requirement) for requirement in by_name[name].requires]
    return [package for package in by_name.values() if package.name in found]


def closure(package: Package, root: Path = ROOT, extra: Iterable[str] = ()) -> list[Package]:
    """The package with every sibling that it needs; `extra` names more requirements, such as those of its tests."""
    return siblings([package.name, *extra], [*packages(root).values(), *example_plugins(root).values()])
