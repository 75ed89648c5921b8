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


PLUGIN = 'from tenfold.plugins.discovery import families\n\ndef hook():\n    return families("tenfold.optim.rules")\n'


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


def circle(root: Path, first: str, second: str) -> list[str]:
    write(root, "nn", "tenfold/nn/a.py", first)
    write(root, "nn", "tenfold/nn/b.py", second)
    return check_imports.check(root)


def test_a_circle(root: Path) -> None:
    (found,) = circle(root, "from tenfold.nn import b", "from .a import x")
    assert "a circle of 2 modules: tenfold.nn.a, tenfold.nn.b" in found
    assert "a.py:1: tenfold.nn.a imports tenfold.nn.b" in found
    assert "b.py:1: tenfold.nn.b imports tenfold.nn.a" in found


@pytest.mark.parametrize(
    "second",
    [
        "def f():\n    from .a import x  # late\n",
        "f = lambda: __import__('importlib').import_module('tenfold.nn.a')",
        "try:\n    import tenfold.nn.a\nexcept ImportError:\n    pass",
        "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    import tenfold.nn.a\n",
    ],
)
def test_a_circle_hidden_in_a_function_is_one(root: Path, second: str) -> None:
    (found,) = circle(root, "from tenfold.nn import b", second)
    assert "a circle of 2 modules" in found


def test_types_make_no_circle(root: Path) -> None:
    assert (
        circle(root, "from tenfold.nn import b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x\n")
        == []
    )


def test_a_circle_of_three_across_packages(root: Path) -> None:
    write(root, "core", "tenfold/a.py", "import importlib\nimportlib.import_module('tenfold.optim.c')")
    write(root, "nn", "tenfold/nn/b.py", "import tenfold.a")
    (found,) = circles_with(root, "from tenfold.nn import b  # an extra")
    assert "tenfold.a, tenfold.nn.b, tenfold.optim.c" in found


def circles_with(root: Path, body: str) -> list[str]:
    write(root, "optim", "tenfold/optim/c.py", f"def f():\n    {body}\n")
    return check_imports.check(root)


def test_rooms_keep_their_order(root: Path) -> None:
    write(root, "core", "tenfold/dispatch/calls.py", "def f():\n    from tenfold.tensor.tensor import Tensor  # late\n")
    write(root, "core", "tenfold/tensor/tensor.py", "")
    write(root, "core", "tenfold/linalg.py", "import tenfold.tensor.tensor")
    (found,) = check_imports.check(root)
    assert "calls.py:2: the room dispatch imports tenfold.tensor.tensor of tensor, which stands above it" in found


def test_a_room_imports_no_front_module(root: Path) -> None:
    write(root, "core", "tenfold/ops/norms.py", "from tenfold import linalg")
    write(root, "core", "tenfold/linalg.py", "")
    (found,) = check_imports.check(root)
    assert "the room ops imports tenfold.linalg of tenfold" in found


@pytest.mark.parametrize(
    ("file", "line", "reason_needed"),
    [
        ("planted.py", "import json", True),
        ("planted.py", "from . import other", True),
        ("planted.py", "import json  # only for reports", False),
        ("planted.py", "import PIL", False),
        ("nn_plugin.py", "from . import other", False),
    ],
)
def test_imports_inside_functions_say_why(root: Path, file: str, line: str, reason_needed: bool) -> None:
    write(root, "nn", "tenfold/nn/other.py", "")
    write(root, "nn", f"tenfold/nn/{file}", f"def f():\n    {line}\n")
    found = check_imports.check(root)
    assert ["says why" in one for one in found] == [True] * reason_needed
