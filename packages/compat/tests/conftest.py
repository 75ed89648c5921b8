"""Programs of a few lines that use PyTorch's names, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# What every program starts with. They are forked from one process that did it: alone it takes longer than most of them.
SERVER = """
from tenfold import as_torch; as_torch.install()
import importlib, importlib.metadata, importlib.util, warnings, torch, tenfold
torch.ones(1) + 1  # which loads the plugins
def next_program():
    import json, os, signal, sys
    for line in sys.stdin:
        program = json.loads(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside BLAS's threads, which wait
            child = os.fork()
        if child:
            print(os.waitpid(child, 0)[1], flush=True)
            continue
        signal.alarm(100)  # which ends it
        for stream, name in enumerate((os.devnull, program["out"], program["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), stream)
        return program["code"]
    os._exit(0)
exec(compile(next_program(), "<string>", "exec"))
"""


@pytest.fixture(scope="session")
def server():
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, tmp_path):
    """Run a program where `torch` is Tenfold and warnings are errors; what it printed."""

    def running(code: str) -> str:
        out, err = tmp_path / "out", tmp_path / "err"
        for path in (out, err):
            path.unlink(missing_ok=True)
        print(json.dumps({"code": code, "out": str(out), "err": str(err)}), file=server.stdin, flush=True)
        status = server.stdout.readline().strip()
        assert status == "0", f"status {status}\n{err.read_text() if err.exists() else ''}"
        return out.read_text()

    return running
