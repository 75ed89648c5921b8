"""Which module imports which, read from the sources: what check_imports.py and rooms.py ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workspace import Package

Edges = dict[str, dict[str, "Import"]]  # importing module: {imported module: its first import}


@dataclass(frozen=True)
class Import:
    """One imported dotted name and where it stands."""

    name: str
    line: int
    in_function: bool
    for_types: bool = False  # below `if TYPE_CHECKING`: no import at run time


def imports(tree: ast.AST, module: str, is_package: bool, in_function: bool = False, for_types: bool = False) -> Iterator[Import]:
    """Every import below `tree` as absolute dotted names; `module` resolves the relative ones."""
    for node in statements_of(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, in_function, for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve(node, module, is_package)
            yield from (Import(f"{base}.{alias.name}", node.lineno, in_function, for_types) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            negated = ast.unparse(node.test).startswith("not ")
            for statements, types_only in ((node.body, not negated), (node.orelse, negated)):
                yield from imports(ast.Module(statements, []), module, is_package, in_function, for_types or types_only)
        else:
            inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports(node, module, is_package, inside, for_types)


def statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly inside one, where imports may stand; expressions, most of a tree, have none."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, field, ())


def resolve(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The absolute name of the module that a `from ... import` reads."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def tree_of(path: Path) -> ast.Module:
    """A file's syntax tree; every check asks for it again."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def called_by_name(path: Path) -> Iterator[Import]:
    """`importlib.import_module("a.b")` with the name written out, which is an import like any other."""
    if "import_module(" not in path.read_text(encoding="utf-8"):
        return
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield Import(name.value, node.lineno, True)


def module_name(path: Path, package: Package) -> str:
    parts = path.relative_to(package.source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path, package: Package) -> list[Import]:
    return list(imports(tree_of(path), module_name(path, package), path.name == "__init__.py"))


def sources(packages: list[Package]) -> dict[str, tuple[Path, Package]]:
    """Every module of the packages: its file and who has it."""
    return {module_name(path, package): (path, package) for package in packages for path in sorted(package.source.rglob("*.py"))}


def graph(packages: list[Package]) -> Edges:
    """The imports between the packages' modules at run time, those in functions counted."""
    modules = sources(packages)
    edges: Edges = {}
    for name, (path, package) in modules.items():
        for found in (*imports_of(path, package), *called_by_name(path)):
            target = found.name
            while target and target not in modules:
                target = target.rpartition(".")[0]
            if target and target != name and not found.for_types:
                edges.setdefault(name, {}).setdefault(target, found)
    return edges


def circles(edges: dict[str, dict[str, Import]]) -> list[list[str]]:
    """The sets of nodes that reach one another (R. Tarjan, 1972), each sorted; a node alone is none."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in edges.get(node, ()):
            if target not in order:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == order[node]:
            members = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return sorted(found)
