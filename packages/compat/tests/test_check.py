"""`--check`: what a program's text uses of PyTorch, and what is missing."""

import subprocess
import sys

PROGRAM = """
import torch, numpy as np
import torch.nn as nn, torch.nn.functional as F
from torch.onnx import export as trace
from torch.surely import thing
try:
    from torch.perhaps import other
except ImportError:
    other = None

def run(x):
    torch.backends.cudnn.benchmark = True
    y = F.relu(nn.Linear(1, 1)(x)).sum()
    return torch.no_such_function(np.ones(1), y.anything.at_all), trace
"""


def check(*programs, cwd=None):
    command = [sys.executable, "-m", "tenfold.as_torch", "--check", *map(str, programs)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=cwd)


def test_a_script(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = check("program.py", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert lines[0] == "program.py: 1 file, 9 of PyTorch's names, 5 of them are here"
    assert "  ok       torch.nn.Linear (1)" in lines
    assert "  MISSING  torch.no_such_function  program.py:14" in lines
    assert "  MISSING  torch.surely.thing  program.py:5" in lines
    assert "  tried    torch.perhaps.other  program.py:7" in lines
    place = lines.index("  MISSING  torch.onnx.export  program.py:4")
    assert "tenfold-compile" in lines[place + 1]


def test_a_folder_and_a_package(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from torch import nn\nfrom . import other\n")
    (tmp_path / "package" / "other.py").write_text("import torch\n\ntorch.nn.Module\n")
    for program in ("package", tmp_path / "package"):
        done = check(program, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "2 files, 3 of PyTorch's names, 3 of them are here" in done.stdout


def test_what_cannot_be_read(tmp_path):
    (tmp_path / "broken.py").write_text("def (")
    assert "not read" in check(tmp_path / "broken.py").stdout
    missing = check("surely_missing")
    assert missing.returncode == 2
    assert "no module that is installed" in missing.stdout
