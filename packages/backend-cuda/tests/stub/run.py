"""Runs the scenarios on the stub driver: a line of JSON for each, in one process, which loads CuPy and Triton once.

`run.py FOLDER [FILE:] [part of a name...]`; the folder is that of the built stub (build.py).
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    import stub

    stub.install(Path(sys.argv[1]))  # before CuPy is imported
    files = [word[:-1] for word in sys.argv[2:] if word.endswith(":")]
    for path in sorted(HERE.glob("*scenarios.py")):
        if not files or path.stem in files:
            names = [word for word in sys.argv[2:] if not word.endswith(":")]
            stub.run_cases(vars(importlib.import_module(path.stem)), names)
