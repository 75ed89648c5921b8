"""What type checkers read: every name is declared once, and means something to the package that is installed."""

from __future__ import annotations

import ast
from pathlib import Path

import tenfold

FOLDER = Path(__file__).parents[1] / "src" / "tenfold"


def names(file: str) -> list[str]:
    """The functions that a declaration file has at its top, or in its classes, without the forms of overloads."""
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if not any(ast.unparse(mark).endswith("overload") for mark in node.decorator_list)]


def test_no_function_is_declared_twice() -> None:
    found = names("public_names.pyi")
    assert len(found) > 300
    assert len(found) == len(set(found))
    assert {"add", "zeros", "einsum", "matmul", "where"} <= set(found)


def test_the_methods_named_after_operators_are_declared() -> None:
    found = set(names("operator_methods.pyi"))
    for name in ("add", "add_", "sum", "view", "sort", "__matmul__", "__getitem__"):
        assert name in found
        assert hasattr(tenfold.Tensor, name)
