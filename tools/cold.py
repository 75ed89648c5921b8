"""Run things first: what works only after something else was imported or called is found nowhere else.

    python tools/cold.py functions [NAME...]     each operator's example, alone in a process that has only imported tenfold
    python tools/cold.py files PATH...           the first tests of each test file, in a process of their own

`functions` forks a process for each example from one that did nothing but `import tenfold`: loading the plugins, writing the
call path and finding the kernel all happen anew. Without names it takes the first operators of each module that declares
some; `functions all` takes every one, which is ten times as many. `files` forks a process for each file from one that has
pytest and NumPy only, and runs its first tests; later ones no longer meet a fresh process. Left out: operators without an
example, and what the files' later tests do (the sessions `tests` and `oracle` run all of them).
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FIRST_TESTS = 3
FIRST_OPERATORS = 2
LIMIT_S = 600
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LISTING = """
import json
from tenfold.dispatch.operators import OPERATORS
from tenfold.plugins import load_operators
load_operators()
print(json.dumps([[name, o.declared.__module__, o.doc] for name, o in OPERATORS.items() if ">>>" in o.doc]))
"""


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """This module is also the pytest plugin of the processes that `files` starts: it keeps a file's first tests."""
    del items[FIRST_TESTS:]


def examples(names: list[str]) -> dict[str, str]:
    """Operators' docstrings with an example: those named, or the first ones of each module.

    They are read by another process, so that this one stays cold.
    """
    run = subprocess.run([sys.executable, "-c", LISTING], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    chosen, seen = {}, Counter[str]()
    for name, module, doc in json.loads(run.stdout):
        seen[module] += 1
        if name in names or names == ["all"] or (not names and seen[module] <= FIRST_OPERATORS):
            chosen[name] = doc
    return chosen


def run_example(name: str, doc: str) -> bool:
    """Whether an example shows what it says; differences are printed."""
    warnings.simplefilter("error")
    test = doctest.DocTestParser().get_doctest(doc, {"__name__": "cold"}, name, None, 0)
    return not doctest.DocTestRunner(optionflags=FLAGS).run(test).failed


def forked(function: Callable[[], bool]) -> int:
    """Start a child process that runs the function and exits with 0 for True; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = int(not function())
    except BaseException as error:  # noqa: BLE001 - whatever it is, the child must not go on as its parent
        print(f"{type(error).__name__}: {error}")
    sys.stdout.flush()
    os._exit(code)


def run_functions(names: list[str]) -> list[str]:
    """The operators whose examples fail in a fresh process, several at a time."""
    chosen = examples(names)
    import tenfold  # noqa: F401 - what every child starts with

    running: dict[int, str] = {}
    failed: list[str] = []
    for name, doc in chosen.items():
        if len(running) >= (os.cpu_count() or 1):
            failed += _finished(running)
        running[forked(lambda name=name, doc=doc: run_example(name, doc))] = name  # type: ignore[misc]
    while running:
        failed += _finished(running)
    print(f"{len(chosen)} functions, each first in its process: {len(failed)} failed")
    return failed


def _finished(running: dict[int, str]) -> Iterator[str]:
    """Wait for one child; its name if it failed."""
    child, status = os.wait()
    name = running.pop(child)
    if status:
        yield name


def first_tests(path: str, output: Path) -> bool:
    """Whether a file's first tests pass; this process has imported pytest and NumPy, nothing of Tenfold."""
    with output.open("w") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    sys.path.insert(0, os.getcwd())
    options = [
        "-q",
        "-x",
        "-p",
        "cold",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    return pytest.main([*options, path]) in (0, pytest.ExitCode.NO_TESTS_COLLECTED)


def run_files(paths: list[str]) -> list[str]:
    """The files whose first tests fail in a process of their own, several at a time."""
    for name in ("numpy", "hypothesis"):  # once for all: they take longer than most first tests
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    waiting, running, failed = list(reversed(paths)), dict[int, tuple[str, float]](), []
    with tempfile.TemporaryDirectory() as folder:
        output = {path: Path(folder) / str(i) for i, path in enumerate(paths)}
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                path = waiting.pop()
                running[forked(functools.partial(first_tests, path, output[path]))] = path, time.monotonic()
            child, status = os.waitpid(-1, os.WNOHANG)
            if child:
                path, _ = running.pop(child)
                if status:
                    failed.append(path)
                    print(output[path].read_text() or f"{path}: status {status}")
                continue
            for child, (path, start) in running.items():
                if time.monotonic() - start > LIMIT_S:  # one hang does not hide the other files
                    print(f"{path}: its first tests took more than {LIMIT_S} s")
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
    print(f"{len(paths)} test files, each first in its process: {len(failed)} failed")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Run examples and test files in fresh processes.")
    parser.add_argument("what", choices=("functions", "files"))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    start = time.perf_counter()
    failed = run_functions(given.names) if given.what == "functions" else run_files(given.names)
    print(f"cold: {given.what} took {time.perf_counter() - start:.0f} s" + "".join(f"\n  failed: {name}" for name in failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
