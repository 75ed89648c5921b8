"""What tests come to on a GPU: a line of JSON for each as it ends, and processes that have lost their GPU end.

After an illegal memory access every call of a process fails, and so would all of its other tests. With pytest-xdist another
process goes on behind the test that did it. The device is waited for after each test, so that an error is that of the test
which made it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

LOST = 70  # the exit status of a process that has lost its GPU


def fault() -> str:
    """What the driver says of the work that this process has given it, which is waited for; "" where all is well."""
    cupy = sys.modules.get("cupy")
    try:
        if cupy is not None:
            cupy.cuda.runtime.deviceSynchronize()
    except Exception as error:  # noqa: BLE001 - whatever a lost context says
        return f"{type(error).__name__}: {error}"
    return ""


class Results:
    """Lines of a file: name, outcome, seconds, and what a failure said; pytest's hooks of the process that gathers them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            failed = report.outcome == "failed"
            said = report.longreprtext.strip().splitlines() if failed else []
            told = [line[1:].strip() for line in said if line.startswith("E ")] or said[-1:]
            row = {"name": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 2)}
            with self.path.open("a") as file:
                file.write(json.dumps({**row, "said": " ".join(told)[:400]}) + "\n")


class Ending:
    """The hook of a process that runs tests for another one: it ends where it has lost its GPU, after it has told of the test."""

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        said = fault()
        if said:
            print(f"{nodeid}: this process has lost its GPU: {said}", file=sys.stderr, flush=True)
            os._exit(LOST)


def register(config: Any) -> None:
    """Take part in a run of tests on a GPU."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Ending())
    elif config.getoption("--results", None):
        config.pluginmanager.register(Results(Path(config.getoption("--results"))))
