"""Hold the import direction: a package imports only what its pyproject declares.

    python tools/check_imports.py

- `tenfold.x` may be imported where the package's dependencies name the distribution of `tenfold.x`, directly or through
  one another. A distribution named only in an extra may be imported inside functions (`optim` reaches `autograd` so), and
  by a module that its own package imports inside functions only (`optim.swa_utils`, which is about modules of `nn`), or
  whose name it only hands to a plugin hook (`scientific.rules`, which the autograd package imports).
- PyTorch is an oracle for tests and a peer for benchmarks: no file under src/ imports it.
- No modules import one another in a circle, imports inside functions counted, and core's rooms keep their order (rooms.py,
  whose picture docs/rooms.svg is up to date).
- An import inside a function says why in a comment on its line, unless it is of a third-party library, of a sibling named in
  an extra, or in a plugin's hooks, which name what they bring when they are asked.
- `tenfold/__init__.py` exists once, in core: two distributions that ship it overwrite each other.
- No folder named `tenfold` stands outside a src/ folder, where it would be imported in place of the installed package,
  but for that of the distribution `tenfold` itself, which has no code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import rooms
from import_graph import circles, graph, imports_of, module_name, sources
from workspace import ROOT, Package, packages, siblings

IGNORED_FOLDERS = {"__pycache__", "node_modules", "build", "dist"}


def owner(name: str, among: list[Package]) -> Package | None:
    """The package whose import name is the longest prefix of `name`: "tenfold.nn.init" is nn's, "tenfold.linalg" core's."""
    holders = [(len(own), package) for package in among for own in package.import_names if f"{name}.".startswith(f"{own}.")]
    return max(holders, key=lambda holder: holder[0], default=(0, None))[1]


def late_modules(package: Package) -> set[str]:
    """The package's modules that it imports inside functions only, so that `import` of the package does not need them."""
    paths = list(package.source.rglob("*.py"))
    found = [one for path in paths for one in imports_of(path, package)]
    early = {one.name for one in found if not one.in_function}
    early |= {name.rpartition(".")[0] for name in early}  # `from module import name`
    late = {one.name for one in found if one.in_function}
    late |= {
        name for path in paths for name in re.findall(r'importlib\.import_module\("([\w.]+)"\)', path.read_text(encoding="utf-8"))
    }
    return (late - early) | hook_modules(package, paths)


def hook_modules(package: Package, paths: list[Path]) -> set[str]:
    """The modules in folders that the package names to a hook, `families("tenfold.x.rules")`, and imports nowhere itself."""
    plugins = [path for path in paths if module_name(path, package) in package.entry_points.values()]
    folders = {name for path in plugins for name in re.findall(r'"(tenfold\.[\w.]+)"', path.read_text(encoding="utf-8"))}
    names = {module_name(path, package): path for path in paths}
    inside = {folder: {name for name in names if f"{name}.".startswith(f"{folder}.")} for folder in folders}
    imported = {
        folder: {one.name for name, path in names.items() if name not in inside[folder] for one in imports_of(path, package)}
        for folder in folders
    }
    free = (modules for folder, modules in inside.items() if not any(f"{n}.".startswith(f"{folder}.") for n in imported[folder]))
    return {name for modules in free for name in modules}


def check_file(path: Path, package: Package, among: list[Package], late: set[str]) -> Iterator[str]:
    """The imports of one file that its package has not declared."""
    allowed = siblings([package.name], among)
    lazily = siblings([package.name, *(need for needs in package.extras.values() for need in needs)], among)
    is_late = module_name(path, package) in late
    for found in imports_of(path, package):
        where = f"{path}:{found.line}"
        if found.name.split(".")[0] == "torch":
            yield f"{where}: imports PyTorch; product code never does, only tests and benchmarks may"
        target = owner(found.name, among)
        if target is None or target in allowed or ((found.in_function or is_late) and target in lazily):
            continue
        yield (
            f"{where}: {package.name} imports {found.name}, which is in {target.name}; it declares "
            f"{', '.join(p.name for p in allowed if p != package) or 'no sibling'}"
            + ("; an extra may be imported inside a function only" if target in lazily else "")
        )


def check_reasons(path: Path, package: Package, among: list[Package]) -> Iterator[str]:
    """Imports inside functions of Python's own modules and of the package's, without a word why."""
    if path.stem.endswith("_plugin"):
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    local = {
        found.line
        for found in imports_of(path, package)
        if found.in_function and (found.name.split(".")[0] in sys.stdlib_module_names or owner(found.name, among) == package)
    }
    for line in sorted(local):
        if "#" not in lines[line - 1]:
            yield f"{path}:{line}: an import inside a function says why in a comment on its line, or stands at the top"


def check_graph(among: list[Package]) -> Iterator[str]:
    """Circles between modules, and core's rooms."""
    edges, modules = graph(among), sources(among)
    for members in circles(edges):
        steps = [
            f"\n    {modules[one][0]}:{found.line}: {one} imports {target}" + (" in a function" if found.in_function else "")
            for one in members
            for target, found in edges[one].items()
            if target in members
        ]
        yield f"a circle of {len(members)} modules: {', '.join(members)}{''.join(steps)}"
    for package in among:
        if package.short == "core":
            for module, found, fault in rooms.violations(edges, package):
                yield f"{modules[module][0]}:{found.line}: {fault}"


def check_picture(among: list[Package], picture: Path = rooms.PICTURE) -> Iterator[str]:
    """Whether docs/rooms.svg shows the rooms as they are."""
    if not picture.exists() or picture.read_text(encoding="utf-8") != rooms.picture(among):
        yield f"{picture}: does not show the rooms as they are; run python tools/rooms.py"


def check_layout(root: Path) -> Iterator[str]:
    """Folders and files named `tenfold` that would shadow or overwrite the installed package."""
    core_init = root / "packages/core/src/tenfold/__init__.py"
    for folder, names, _ in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in IGNORED_FOLDERS)
        path = Path(folder)
        if path.name != "tenfold" or path == root:
            continue
        if path.parent.name != "src" and not (path / "pyproject.toml").exists():
            yield f"{path}: a folder named tenfold outside src/ shadows the installed package; name it otherwise"
        init = path / "__init__.py"
        if path.parent.name == "src" and init.exists() and init != core_init:
            yield f"{init}: only core ships tenfold/__init__.py; delete it (an empty __init__.pyi serves the type checkers)"


def check(root: Path = ROOT) -> list[str]:
    """Every violation under `root`."""
    found = list(check_layout(root))
    among = list(packages(root).values())
    for package in among:
        late = late_modules(package)
        for path in sorted(package.source.rglob("*.py")):
            found += check_file(path, package, among, late)
            found += check_reasons(path, package, among)
    found += check_graph(among)
    return found


def main() -> int:
    found = [*check(), *check_picture(list(packages(ROOT).values()))]
    print("\n".join([*found, f"check_imports: {len(found)} violation{'s' * (len(found) != 1)}"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
