"""Programs that were written for PyTorch, started in every way that a program is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = """
import torch, torch.nn.functional as F, tenfold
assert F is tenfold.nn.functional and torch.__version__.startswith("2.")
"""

PROGRAM = """
import dataclasses, importlib.metadata, multiprocessing, pickle, subprocess, sys
import torch
import torch.backends.cudnn as cudnn
from torch.nn.modules.batchnorm import BatchNorm2d
from torch.utils.data.sampler import RandomSampler


@dataclasses.dataclass
class Config:
    width: int = 1


def total(x):
    return float(x.sum()), str(x.dtype)


if __name__ == "__main__":
    assert BatchNorm2d is torch.nn.BatchNorm2d and RandomSampler is torch.utils.data.RandomSampler
    assert importlib.metadata.version("torch") == torch.version.__version__ == torch.__version__
    assert "manual_seed" in dir(torch)
    assert Config.__annotations__ == {"width": int}  # this program has no __future__ of its own
    assert type(pickle.loads(pickle.dumps(Config()))) is Config
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(total, [torch.ones(3).double()]) == [(3.0, "torch.float64")]
    asked = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    assert asked.stdout.strip() == torch.__version__, asked.stderr
    print("fine", sys.argv[1:])
"""


def run(*arguments, check=True, env=None, **options):
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, **(env or {})}, **options)
    assert not check or done.returncode == 0, done.stderr
    return done


def test_a_script_its_arguments_and_the_processes_it_starts(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    methods = ["spawn", "forkserver", "fork"] if sys.platform == "linux" else ["spawn"]
    assert run("-m", "tenfold.as_torch", script, *methods).stdout.strip() == f"fine {methods}"


def test_a_module_code_a_folder_and_an_archive(tmp_path):
    (tmp_path / "program.py").write_text(CHECKS + "import sys, other; print(sys.argv[1:], __spec__.name, other.__name__)")
    (tmp_path / "other.py").write_text("")
    assert run("-m", "tenfold.as_torch", "-m", "program", "a", cwd=tmp_path).stdout == "['a'] program other\n"
    code = CHECKS + "import sys, other; print(sys.argv)"
    assert run("-m", "tenfold.as_torch", "-c", code, "-x", cwd=tmp_path).stdout == "['-c', '-x']\n"
    (tmp_path / "__main__.py").write_text(CHECKS + "import sys, other; print(sys.argv[1:])")
    assert run("-m", "tenfold.as_torch", tmp_path, "b").stdout == "['b']\n"


def test_the_environment_variable_alone(tmp_path):
    assert run("-c", CHECKS + "print('fine')", env={"TENFOLD_AS_TORCH": "1"}).stdout == "fine\n"


def test_nothing_is_changed_or_loaded_for_others():
    """Nor does a process wait for NumPy that never asks for PyTorch."""
    code = "import sys; print([name for name in ('tenfold', 'numpy', '_tenfold_as_torch') if name in sys.modules])"
    assert run("-c", code).stdout == "[]\n"
    assert run("-c", code, env={"TENFOLD_AS_TORCH": "1"}).stdout == "['_tenfold_as_torch']\n"


def test_a_traceback_and_an_exit_status_are_the_programs(tmp_path):
    (tmp_path / "fails.py").write_text("import torch\nraise SystemExit(3)")
    assert run("-m", "tenfold.as_torch", tmp_path / "fails.py", check=False).returncode == 3
    (tmp_path / "raises.py").write_text("import torch\n\ntorch.ones(2) @ torch.ones(3)")
    done = run("-m", "tenfold.as_torch", tmp_path / "raises.py", check=False)
    assert done.returncode == 1
    assert f'File "{tmp_path / "raises.py"}", line 3' in done.stderr
    assert "torch.ones(2) @ torch.ones(3)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "can't open file 'missing.py'"),
        (["-m"], "-m needs a module"),
        (["-m", "no_such_module"], "No module named"),
    ],
)
def test_what_cannot_be_run(arguments, said):
    done = run("-m", "tenfold.as_torch", *arguments, check=False)
    assert done.returncode != 0
    assert said in done.stderr


def test_pytest_and_its_plugin(tmp_path):
    Path(tmp_path / "test_program.py").write_text(f"def test_it():\n{CHECKS.replace(chr(10), chr(10) + '    ')}")
    for start in (["-m", "tenfold.as_torch", "-m", "pytest"], ["-m", "pytest", "-p", "tenfold.as_torch.pytest_plugin"]):
        done = run(*start, "-p", "no:cacheprovider", tmp_path, cwd=tmp_path)
        assert "1 passed" in done.stdout
    assert "torch: Tenfold" in done.stdout


def test_install_comes_before_pytorch():
    code = "import sys, types; sys.modules['torch'] = types.ModuleType('torch'); from tenfold import as_torch; as_torch.install()"
    done = run("-c", code, check=False)
    assert "ImportError: torch is imported already" in done.stderr
    assert run("-c", "from tenfold import as_torch; as_torch.install(); as_torch.install(); import torch; print(torch)").stdout
