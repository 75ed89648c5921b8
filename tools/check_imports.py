"""Hold the import direction: a package imports only what its pyproject declares.

    python tools/check_imports.py

- `tenfold.x` may be imported where the package's dependencies name the distribution of `tenfold.x`, directly or through
  one another. A distribution named only in an extra may be imported inside functions (`optim` reaches `autograd` so), and
  by a module that its own package imports inside functions only (`optim.swa_utils`, which is about modules of `nn`), or
  whose name it only hands to a plugin hook (`scientific.rules`, which the autograd package imports).
- PyTorch is an oracle for tests and a peer for benchmarks: no file under src/ imports it.
- `tenfold/__init__.py` exists once, in core: two distributions that ship it overwrite each other.
- No folder named `tenfold` stands outside a src/ folder, where it would be imported in place of the installed package.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workspace import ROOT, Package, packages, siblings

IGNORED_FOLDERS = {"__pycache__", "node_modules", "build", "dist"}


@dataclass(frozen=True)
class Import:
    """One imported dotted name and where it stands."""

    name: str
    line: int
    in_function: bool


def imports(tree: ast.AST, module: str, is_package: bool, in_function: bool = False) -> Iterator[Import]:
    """Every import below `tree` as absolute dotted names; `module` resolves the relative ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, in_function) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve(node, module, is_package)
            yield from (Import(f"{base}.{alias.name}", node.lineno, in_function) for alias in node.names)
        else:
            inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(node, module, is_package, inside)


def resolve(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The absolute name of the module that a `from ... import` reads."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def owner(name: str, among: list[Package]) -> Package | None:
    """The package whose import name is the longest prefix of `name`: "tenfold.nn.init" is nn's, "tenfold.linalg" core's."""
    holders = [(len(own), package) for package in among for own in package.import_names if f"{name}.".startswith(f"{own}.")]
    return max(holders, key=lambda holder: holder[0], default=(0, None))[1]


def module_name(path: Path, package: Package) -> str:
    parts = path.relative_to(package.source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, package: Package) -> list[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return list(imports(tree, module_name(path, package), path.name == "__init__.py"))


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


def check_layout(root: Path) -> Iterator[str]:
    """Folders and files named `tenfold` that would shadow or overwrite the installed package."""
    core_init = root / "packages/core/src/tenfold/__init__.py"
    for folder, names, _ in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in IGNORED_FOLDERS)
        path = Path(folder)
        if path.name != "tenfold" or path == root:
            continue
        if path.parent.name != "src":
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
    return found


def main() -> int:
    found = check()
    print("\n".join([*found, f"check_imports: {len(found)} violation{'s' * (len(found) != 1)}"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
