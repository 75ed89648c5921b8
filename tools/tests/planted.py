"""Packages planted into a scratch workspace."""

from __future__ import annotations

from pathlib import Path

PYPROJECT = """
[project]
name = "{name}"
version = "0.1.0"
dependencies = {needs}
[project.optional-dependencies]
more = {extra}
[tool.hatch.build.targets.wheel]
only-include = ["src/tenfold/{short}"]
"""


def add_package(root: Path, short: str, needs: list[str], extra: list[str] | None = None) -> None:
    folder = root / "packages" / short
    folder.mkdir(parents=True)
    text = PYPROJECT.format(name=f"tenfold-{short}", needs=needs, extra=extra or [], short=short)
    (folder / "pyproject.toml").write_text(text)
