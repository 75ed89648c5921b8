from __future__ import annotations

import zipfile
from pathlib import Path

import check_wheels
import pytest


def make(folder: Path, name: str, *files: str) -> Path:
    path = folder / f"tenfold_{name}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in (*files, f"tenfold_{name}-0.1.0.dist-info/licenses/LICENSE"):
            archive.writestr(file, "")
    return path


def test_good_wheels_pass(tmp_path: Path) -> None:
    core = make(tmp_path, "core", "tenfold/__init__.py", "tenfold/py.typed")
    nn = make(tmp_path, "nn", "tenfold/nn/__init__.py", "tenfold/nn/py.typed")
    assert check_wheels.check([core, nn]) == []


def test_a_second_init_and_a_shared_file_are_found(tmp_path: Path) -> None:
    core = make(tmp_path, "core", "tenfold/__init__.py", "tenfold/py.typed")
    nn = make(tmp_path, "nn", "tenfold/__init__.py", "tenfold/nn/py.typed")
    found = check_wheels.check([core, nn])
    assert any("whichever is installed last" in line for line in found)
    assert any("no other wheel does" in line for line in found)


def test_stray_files_and_a_missing_marker_are_found(tmp_path: Path) -> None:
    found = check_wheels.check([make(tmp_path, "nn", "tests/test_nn.py", "tenfold/nn/__init__.py")])
    assert any("holds tests/test_nn.py" in line for line in found)
    assert any("no py.typed" in line for line in found)


def test_a_large_core_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = make(tmp_path, "core", "tenfold/__init__.py", "tenfold/py.typed")
    monkeypatch.setitem(check_wheels.LIMITS_BYTES, "tenfold_core", 10)
    assert any("10 are the most" in line for line in check_wheels.check([core]))


def test_a_wheel_without_code_needs_no_marker(tmp_path: Path) -> None:
    assert check_wheels.check([make(tmp_path, "all")]) == []
