"""Runs a program over the stub driver: rehearse.py FOLDER SCRIPT [arguments...]; the stub is built in FOLDER if need be.

Nothing is computed, but every line of the host runs, and every kernel is compiled for the stub's GPU, a Hopper: with
TRITON_CACHE_DIR set, a GPU machine with the same Triton finds the machine code there and compiles nothing.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    import build
    import stub

    folder, script = Path(sys.argv[1]), sys.argv[2]
    stub.install(folder if list(folder.glob("lib*.so.*")) else build.build(folder))  # before CuPy is imported
    sys.argv[:] = sys.argv[2:]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")
