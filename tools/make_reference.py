"""Write the reference from the docstrings: python tools/make_reference.py OUT [PACKAGE...]

One Markdown page per package with every public name: the names in a module's `__all__`, else those without a leading
underscore that the module defines. Packages are given by folder name (core, nn, ...); all by default.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from workspace import Package, packages


def public_modules(package: Package, others: set[str]) -> Iterator[ModuleType]:
    """The package's modules without a leading underscore, those of other distributions left out."""
    for name in (name for name in package.import_names if not name.endswith("_plugin")):
        top = importlib.import_module(name)
        yield top
        for found in pkgutil.walk_packages(getattr(top, "__path__", ()), f"{name}."):
            parts = found.name.split(".")
            foreign = any(f"{found.name}.".startswith(f"{other}.") for other in others)
            if not foreign and not any(part.startswith("_") for part in parts):
                yield importlib.import_module(found.name)


def public_members(module: ModuleType) -> list[tuple[str, Any]]:
    """The names that a module offers, with their values."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [(name, getattr(module, name)) for name in listed]
    return [
        (name, value)
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value) and getattr(value, "__module__", None) == module.__name__
    ]


class Bare(str):
    """An annotation kept as text, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def bare(annotation: Any) -> Any:
    """An annotation as the source has it, where `from __future__ import annotations` made it a string."""
    return Bare(annotation) if isinstance(annotation, str) else annotation


def signature(value: Any) -> str:
    """A callable's signature, or nothing where Python has none to show."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [parameter.replace(annotation=bare(parameter.annotation)) for parameter in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=bare(found.return_annotation)))


def describe(name: str, value: Any, level: int) -> Iterator[str]:
    """A heading, the signature and the docstring of one name, and of a class's own public methods."""
    doc = inspect.getdoc(value) or ""
    yield f"{'#' * level} `{name}`\n"
    if callable(value):
        kind = "class " if inspect.isclass(value) else ""
        yield f"```text\n{kind}{name}{signature(value)}\n```\n"
    if doc and not (inspect.isclass(value) and value.__doc__ is None):
        yield f"{fenced(doc)}\n"
    if inspect.isclass(value):
        for method_name, method in vars(value).items():
            if (
                not method_name.startswith("_")
                and (inspect.isfunction(method) or isinstance(method, property))
                and method.__doc__
            ):
                yield from describe(f"{name}.{method_name}", method, level + 1)


def fenced(doc: str) -> str:
    """A docstring's first paragraph as prose and the rest as it stands in the source."""
    summary, _, rest = doc.partition("\n\n")
    return f"{summary}\n" if not rest.strip() else f"{summary}\n\n```text\n{rest.rstrip()}\n```\n"


def page(package: Package, others: set[str]) -> str:
    """The whole page of one package; a name is described once, in the first module that lists it."""
    parts = [f"# {package.import_name}\n", f"In the distribution `{package.name}`.\n"]
    seen: set[int] = set()
    for module in public_modules(package, others):
        members = [
            (name, value) for name, value in public_members(module) if id(value) not in seen and not inspect.ismodule(value)
        ]
        seen.update(id(value) for _, value in members)
        if members or module.__doc__:
            parts += [f"## {module.__name__}\n", f"{inspect.getdoc(module) or ''}\n"]
        parts += [line for name, value in members for line in describe(name, value, 3)]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write one Markdown page per package from its docstrings.")
    parser.add_argument("out", type=Path)
    parser.add_argument("packages", nargs="*", help="folder names; all by default")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    known = packages()
    chosen = [known[name] for name in args.packages] if args.packages else [p for p in known.values() if p.has_code]
    for package in chosen:
        own = package.import_names
        others = {name for other in known.values() for name in other.import_names if name not in own}
        target = args.out / f"{package.short}.md"
        target.write_text(page(package, others), encoding="utf-8")
        print(f"wrote {target}")
    index = "".join(f"- [{package.import_name}]({package.short}.md)\n" for package in chosen)
    (args.out / "README.md").write_text(f"# Reference\n\nGenerated from the docstrings.\n\n{index}", encoding="utf-8")


if __name__ == "__main__":
    main()
