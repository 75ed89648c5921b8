from __future__ import annotations

from pathlib import Path

import check_imports
import rooms
from planted import add_package
from workspace import packages


def workspace(root: Path) -> Path:
    """Core with two rooms, one upon the other, and nn upon both."""
    add_package(root, "core", [])
    pyproject = root / "packages/core/pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("src/tenfold/core", "src/tenfold"))
    add_package(root, "nn", ["tenfold-core"])
    files = {
        "core/src/tenfold/__init__.py": "from tenfold.tensor.tensor import Tensor",
        "core/src/tenfold/dispatch/calls.py": "",
        "core/src/tenfold/tensor/tensor.py": "import tenfold.dispatch.calls",
        "nn/src/tenfold/nn/__init__.py": "import tenfold\nimport tenfold.dispatch.calls",
    }
    for name, text in files.items():
        path = root / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_floors_and_arrows(tmp_path: Path) -> None:
    among = list(packages(workspace(tmp_path)).values())
    uses = rooms.drawn(among)
    # What a box reaches through another has no arrow of its own.
    assert uses == {"nn": {"tenfold"}, "tenfold": {"tensor"}, "tensor": {"dispatch"}, "dispatch": set()}
    assert rooms.floors(uses) == [["dispatch"], ["tensor"], ["tenfold"], ["nn"]]


def test_the_picture_is_the_same_each_time_and_checked(tmp_path: Path) -> None:
    among = list(packages(workspace(tmp_path)).values())
    text = rooms.picture(among)
    assert text == rooms.picture(among[::-1])
    assert text.count("<path") == 3
    file = tmp_path / "rooms.svg"
    assert list(check_imports.check_picture(among, file)) != []
    file.write_text(text)
    assert list(check_imports.check_picture(among, file)) == []
    (tmp_path / "packages/core/src/tenfold/ops").mkdir()
    (tmp_path / "packages/core/src/tenfold/ops/norms.py").write_text("import tenfold.tensor.tensor")
    (found,) = check_imports.check_picture(among, file)
    assert "run python tools/rooms.py" in found
