"""The map of the code and the guide for contributors name only files and folders that are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from run_docs import broken_links

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("docs/map.md", "CONTRIBUTING.md")
CODE = re.compile(r"(?<!\[)`([^`\s]*?\w(?:\.py|\.pyi|\.md|\.toml|/))`")  # a file or a folder, in inline code


@cache
def tree() -> tuple[str, ...]:
    """Every file and folder of the sources and tests, as `/path/to/file.py` or `/path/to/folder/`."""
    folders = [ROOT / name for name in ("packages", "tools", "docs", "benchmarks", "examples")]
    found = [path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return tuple(f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}" for path in (*found, *ROOT.iterdir()))


def missing(text: str) -> list[str]:
    """The paths in inline code that end no path of the tree; FAMILY, NAME and dots stand for what differs."""
    named = {name for name in CODE.findall(text) if not re.search(r"FAMILY|NAME|\.\.\.", name)}
    return sorted(name for name in named if not any(path.endswith(f"/{name.removeprefix('/')}") for path in tree()))


@pytest.mark.parametrize("page", PAGES)
def test_paths_in_code_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(CODE.findall(text)) > 3
    assert missing(text) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    assert broken_links(ROOT / page) == []


def test_a_missing_path_is_found():
    assert missing("see `ops/matmul.py`, `ops/gone.py` and `FAMILY.py`") == ["ops/gone.py"]
