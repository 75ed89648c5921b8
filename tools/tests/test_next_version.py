from __future__ import annotations

from pathlib import Path

import next_version
import workspace
from planted import add_package


def test_only_the_projects_own_version_rises(tmp_path: Path) -> None:
    add_package(tmp_path, "nn", ["tenfold-core>=0.1.0"])
    target = tmp_path / "bumped"
    assert next_version.copy_bumped(tmp_path / "packages/nn", target) == "0.2.0"
    package = workspace.read_package(target / "pyproject.toml")
    assert (package.version, package.requires) == ("0.2.0", ("tenfold-core>=0.1.0",))
