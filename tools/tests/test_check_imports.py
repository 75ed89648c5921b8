from __future__ import annotations

from pathlib import Path

import check_imports
import pytest
from planted import add_package


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace: core; nn needs core; optim needs core and has nn in an extra."""
    add_package(tmp_path, "core", [])
    core = tmp_path / "packages/core/pyproject.toml"
    core.write_text(core.read_text().replace("src/tenfold/core", "src/tenfold"))
    add_package(tmp_path, "nn", ["tenfold-core"])
    add_package(tmp_path, "optim", ["tenfold-core"], extra=["tenfold-nn"])
    write(tmp_path, "core", "tenfold/__init__.py", "")
    return tmp_path


def write(root: Path, package: str, file: str, text: str) -> None:
    path = root / "packages" / package / "src" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


ALLOWED = [
    ("nn", "import tenfold\nimport numpy"),
    ("nn", "from tenfold import Tensor\nfrom tenfold.nn.linear import Linear\nfrom . import init\nfrom .. import zeros"),
    ("optim", "def step():\n    from tenfold import nn\n"),
    ("core", "import tenfold as torch\nfrom tenfold.linalg import inv"),
]
FORBIDDEN = [
    ("core", "import tenfold.nn", "declares no sibling"),
    ("core", "from tenfold import nn", "tenfold-core imports tenfold.nn"),
    ("core", "def f():\n    import tenfold.nn.init", "tenfold-core imports tenfold.nn.init"),
    ("nn", "from ..optim import SGD", "tenfold-nn imports tenfold.optim.SGD"),
    ("optim", "from tenfold.nn import Linear", "inside a function only"),
    ("optim", "class A:\n    import tenfold.nn", "inside a function only"),
    ("nn", "import torch", "imports PyTorch"),
    ("nn", "def f():\n    from torch.nn import Linear", "imports PyTorch"),
    ("nn", "if True:\n    import torch.nn as nn", "imports PyTorch"),
]


def module(package: str) -> str:
    return "tenfold/planted.py" if package == "core" else f"tenfold/{package}/planted.py"


@pytest.mark.parametrize(("package", "text"), ALLOWED)
def test_allowed(root: Path, package: str, text: str) -> None:
    write(root, package, module(package), text)
    assert check_imports.check(root) == []


LATE = 'import importlib\n\ndef __getattr__(name):\n    return importlib.import_module("tenfold.optim.planted")\n'


def test_module_that_its_package_imports_late_may_import_an_extra(root: Path) -> None:
    write(root, "optim", "tenfold/optim/planted.py", "from tenfold.nn import Linear")
    write(root, "optim", "tenfold/optim/__init__.py", LATE)
    assert check_imports.check(root) == []
    write(root, "optim", "tenfold/optim/other.py", "from .planted import Linear")
    (found,) = check_imports.check(root)
    assert "inside a function only" in found


PLUGIN = 'from tenfold.dispatch.families import families\n\ndef hook():\n    return families("tenfold.optim.rules")\n'


def test_module_that_a_hook_names_may_import_an_extra(root: Path) -> None:
    pyproject = root / "packages/optim/pyproject.toml"
    pyproject.write_text(pyproject.read_text() + '[project.entry-points.tenfold]\noptim = "tenfold.optim.plugin"\n')
    write(root, "optim", "tenfold/optim/plugin.py", PLUGIN)
    write(root, "optim", "tenfold/optim/rules/planted.py", "from tenfold.nn import Linear")
    assert check_imports.check(root) == []
    write(root, "optim", "tenfold/optim/other.py", "from .rules.planted import Linear")
    (found,) = check_imports.check(root)
    assert "inside a function only" in found


@pytest.mark.parametrize(("package", "text", "message"), FORBIDDEN)
def test_forbidden(root: Path, package: str, text: str, message: str) -> None:
    write(root, package, module(package), text)
    (found,) = check_imports.check(root)
    assert message in found
    assert "planted.py:" in found


def test_relative_import_in_an_init_file(root: Path) -> None:
    write(root, "nn", "tenfold/nn/__init__.py", "from .linear import Linear\nfrom ..optim import SGD\n")
    (found,) = check_imports.check(root)
    assert "tenfold.optim.SGD" in found


def test_a_second_init_file(root: Path) -> None:
    write(root, "nn", "tenfold/__init__.py", "")
    (found,) = check_imports.check(root)
    assert "only core ships" in found


def test_a_folder_outside_src(root: Path) -> None:
    (root / "examples/mine/tenfold").mkdir(parents=True)
    (found,) = check_imports.check(root)
    assert "outside src/" in found
