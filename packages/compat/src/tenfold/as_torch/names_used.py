"""Which of PyTorch's names a program's text uses: its imports, and the attributes of what it imported."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tenfold.as_torch.names import is_ours

_EXCUSED = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


class Use(NamedTuple):
    """A name, where it stands, and whether the program goes on without it."""

    name: str
    file: Path
    line: int
    is_tried: bool


def files_of(program: str) -> list[Path]:
    """The Python files of a script, a folder, or a package or module by its name; FileNotFoundError for none."""
    path = Path(program)
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    try:
        spec = importlib.util.find_spec(program) if all(part.isidentifier() for part in program.split(".")) else None
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{program} is no file, no folder and no module that is installed")
    return sorted(Path(spec.origin).parent.rglob("*.py")) if spec.submodule_search_locations else [Path(spec.origin)]


def names_used(file: Path) -> list[Use]:
    """PyTorch's names in one file, in order; SyntaxError for what is no Python."""
    finder = _Finder(file)
    finder.visit(ast.parse(file.read_bytes(), str(file)))
    return finder.found


class _Finder(ast.NodeVisitor):
    """Collects dotted names that begin at an import of PyTorch's."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: list[Use] = []
        self.bound: dict[str, str] = {}  # names of this file and what they mean
        self.tries = 0

    def _note(self, name: str, node: ast.AST) -> None:
        self.found.append(Use(name, self.file, getattr(node, "lineno", 0), self.tries > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if is_ours(alias.name):
                self._note(alias.name, node)
                root = alias.name.partition(".")[0]
                self.bound[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None or not is_ours(node.module):
            return
        for alias in node.names:
            if alias.name == "*":
                self._note(node.module, node)
                continue
            self._note(f"{node.module}.{alias.name}", node)
            self.bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if name is None:
            self.generic_visit(node)
        elif isinstance(node.ctx, ast.Load):
            self._note(name, node)

    def _dotted(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.bound.get(node.id)
        if isinstance(node, ast.Attribute):
            before = self._dotted(node.value)
            return None if before is None else f"{before}.{node.attr}"
        return None

    def visit_Try(self, node: ast.Try) -> None:
        excused = any(handler.type is None or _EXCUSED & set(_names(handler.type)) for handler in node.handlers)
        self.tries += excused
        for statement in node.body:
            self.visit(statement)
        self.tries -= excused
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
