from __future__ import annotations

from pathlib import Path

import check_lengths
from workspace import ROOT


def write(path: Path, lines: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("pass\n" * lines)


def test_a_file_is_too_long_from_401_lines_on(tmp_path: Path) -> None:
    write(tmp_path / "packages/a/src/tenfold/short.py", 400)
    assert check_lengths.check(tmp_path) == []
    write(tmp_path / "packages/a/tests/test_long.py", 401)
    write(tmp_path / "noxfile.py", 402)
    first, second = check_lengths.check(tmp_path)
    assert first.startswith("noxfile.py: 402 lines, at most 400 are accepted")
    assert second.startswith("packages/a/tests/test_long.py: 401 lines")


def test_what_is_built_or_written_by_a_tool_is_exempt(tmp_path: Path) -> None:
    write(tmp_path / "packages/a/build/copy.py", 500)
    write(tmp_path / "tools/.venv/lib/other.py", 500)
    write(tmp_path / next(iter(check_lengths.GENERATED)), 500)
    assert check_lengths.check(tmp_path) == []


def test_exempt_files_are_there_and_say_who_writes_them() -> None:
    for name, tool in check_lengths.GENERATED.items():
        assert (ROOT / tool).is_file()
        assert tool in (ROOT / name).read_text(encoding="utf-8").splitlines()[0]
