"""What the doctor says of distributions that do not fit one another."""

from __future__ import annotations

from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tenfold.inspection import distributions, doctor


def installed(folder: Path, name: str, version: str, needs: list[str], files: list[str]) -> Distribution:
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {need}" for need in needs)]
    (home / "METADATA").write_text("\n".join(lines) + "\n")
    (home / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:  # from Python 3.12 on, files that are not there are not named
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return Distribution.at(home)


def pair(folder: Path) -> list[Distribution]:
    return [
        installed(folder, "tenfold-core", "0.1.0", ["numpy>=2.1"], ["tenfold/__init__.py", "tenfold/nn.py", "tenfold/a.json"]),
        installed(
            folder, "tenfold-nn", "0.3", ["tenfold_core<0.4,>=0.2", 'tenfold-core>9; extra == "x"'],
            ["tenfold/nn/__init__.py", "tenfold/nn/conv.py", "tenfold/a.json", "README.md"],
        ),
    ]  # fmt: skip


def test_a_version_outside_the_range_that_another_declares(tmp_path: Path) -> None:
    (found,) = distributions.out_of_range(pair(tmp_path))
    assert found == "tenfold-nn 0.3 needs tenfold_core<0.4,>=0.2, installed is tenfold-core 0.1.0"


def test_a_file_and_a_module_with_two_owners(tmp_path: Path) -> None:
    both = "tenfold-core 0.1.0 and tenfold-nn 0.3"
    assert distributions.owned_twice(pair(tmp_path)) == [
        f"tenfold.nn is owned by {both}",
        f"tenfold/a.json is owned by {both}",
    ]


def test_the_doctor_reports_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pair(tmp_path)
    monkeypatch.setattr(distributions, "installed", lambda: found)
    report, healthy = doctor.report()
    assert not healthy
    assert "FAILED: tenfold-nn 0.3 needs tenfold_core<0.4,>=0.2, installed is tenfold-core 0.1.0" in report
    assert "FAILED: tenfold.nn is owned by tenfold-core 0.1.0 and tenfold-nn 0.3" in report


@pytest.mark.parametrize(
    ("bounds", "version", "fits"),
    [
        (">=0.1", "0.1.0", True), (">=0.2", "0.1.9", False), ("<1", "1.0", False), ("==0.1.*", "0.1.7", True),
        ("==0.1.*", "0.2", False), ("!=0.1.*", "0.2", True), ("~=0.1.2", "0.1.9", True), ("~=1.4", "2.0", False),
        ("", "3", True), (">=0.10", "0.9", False), ("==0.1", "0.1.0", True), ("<=0.1,!=0.1", "0.1", False),
    ],
)  # fmt: skip
def test_bounds(bounds: str, version: str, fits: bool) -> None:
    assert distributions.accepts(f"tenfold-core{bounds}", version) is fits
