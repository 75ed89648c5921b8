from __future__ import annotations

from pathlib import Path

import pytest
import workspace
from planted import add_package


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("tenfold-core>=0.1,<0.2", "tenfold-core"),
        ("Tenfold_Core[io] ; sys_platform == 'linux'", "tenfold-core"),
        ("tenfold.core", "tenfold-core"),
        ("  numpy", "numpy"),
    ],
)
def test_distribution_name(requirement: str, name: str) -> None:
    assert workspace.distribution_name(requirement) == name


def test_a_requirement_without_a_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a requirement"):
        workspace.distribution_name(">=1.0")


def test_closure_follows_dependencies_of_dependencies(tmp_path: Path) -> None:
    add_package(tmp_path, "core", ["numpy>=2"])
    add_package(tmp_path, "autograd", ["tenfold-core>=0.1"])
    add_package(tmp_path, "nn", ["tenfold-autograd"], extra=["tenfold-data"])
    add_package(tmp_path, "data", ["tenfold-core"])
    found = workspace.packages(tmp_path)
    assert [p.short for p in workspace.closure(found["nn"], tmp_path)] == ["core", "autograd", "nn"]
    with_extra = workspace.closure(found["nn"], tmp_path, extra=["tenfold-data>=0.1"])
    assert {p.short for p in with_extra} == {"core", "autograd", "nn", "data"}


def test_packages_come_before_their_dependents(tmp_path: Path) -> None:
    add_package(tmp_path, "a", ["tenfold-b"])
    add_package(tmp_path, "b", ["tenfold-c"])
    add_package(tmp_path, "c", [])
    assert list(workspace.packages(tmp_path)) == ["c", "b", "a"]


def test_every_package_of_this_repository_is_complete() -> None:
    found = workspace.packages()
    assert next(iter(found)) == "core"
    for package in found.values():
        for name in ("README.md", "CHANGELOG.md"):
            assert (package.folder / name).is_file(), f"{package.folder} has no {name}"
        # A copy, because a source archive with a link out of its own folder cannot be unpacked.
        assert (package.folder / "LICENSE").read_bytes() == (workspace.ROOT / "LICENSE").read_bytes()
        if not package.has_code:
            assert package.name in ("tenfold", "tenfold-typing")
            continue
        assert package.name == f"tenfold-{package.short}"
        assert package.import_name == "tenfold" or package.import_name.startswith("tenfold.")
        assert (package.folder / package.includes[0] / "py.typed").is_file()
        for name, target in package.entry_points.items():
            assert target == f"{package.import_name}_plugin", f"{package.name}: the entry point {name} is {target}"


def test_the_common_distribution_brings_what_the_readme_uses() -> None:
    found = workspace.packages()
    together = {package.short for package in workspace.closure(found["tenfold"])}
    parts = {"core", "autograd", "checkpoint", "data", "inspection", "multiprocessing", "nn", "optim", "scientific", "typing"}
    assert together == {*parts, "tenfold"}
    optional = {workspace.distribution_name(need) for needs in found["tenfold"].extras.values() for need in needs}
    others = {
        "tenfold-backend-cuda",
        "tenfold-backend-llvm",
        "tenfold-vision",
        "tenfold-text",
        "tenfold-sparse",
        "tenfold-nested",
        "tenfold-masked",
        "tenfold-compat",
        "tenfold-distributions",
        "tenfold-scientific",
        "tenfold",
    }
    assert others == optional


def test_siblings_are_required_with_compatible_ranges() -> None:
    names = {package.name for package in workspace.packages().values()}
    for package in workspace.packages().values():
        for need in package.requires:
            if workspace.distribution_name(need) in names:
                assert ">=0.1,<1" in need, f"{package.name} requires {need}"
