"""Run a collection of real PyTorch programs on Tenfold and print a table: python tools/downstream.py CORPUS [OPTIONS]

CORPUS holds run_corpus.py, which knows the programs, and what each has to show; --src and --data say where their sources and
data are. It is called once for each case, by this Python, which has Tenfold and no PyTorch. What is not at hand, such as a
program whose sources are missing, is a row of the table, too, and no success. Further arguments (--case, --level, --threads)
go to run_corpus.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

WIDTH = 90  # of the last column


class Row(NamedTuple):
    """What came of one case."""

    name: str
    status: str
    seconds: float
    seen: str


def cases(runner: Path, options: list[str]) -> list[str]:
    """The names of the cases that the options choose."""
    done = subprocess.run([sys.executable, str(runner), "--list", *options], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if line and not line[0].isspace()]


def run(runner: Path, case: str, options: list[str]) -> Row:
    """One case, in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [sys.executable, str(runner), "--engine", "tenfold", "--python", sys.executable, "--json", str(report)]
        done = subprocess.run([*command, *options, "--case", case], capture_output=True, text=True, check=False)
        if not report.exists():
            last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            return Row(case, "absent" if "FileNotFoundError" in last else "ERROR", 0.0, last)
        (result,) = json.loads(report.read_text(encoding="utf-8"))["results"]
    return Row(case, result["status"], result["seconds"], result["error"] or seen_in(result["criteria"]))


def seen_in(criteria: list[dict[str, Any]]) -> str:
    """What was measured: where a criterion was not met, those alone."""
    failed = [one for one in criteria if not one["ok"]] or criteria
    return "; ".join(f"{one['criterion']}: {one['seen']}" for one in failed)


def table(rows: list[Row]) -> str:
    """The rows as a table in Markdown, with their sum."""
    lines = ["| case | result | seconds | seen |", "|---|---|---|---|"]
    lines += [f"| {row.name} | {row.status} | {row.seconds:.1f} | {row.seen[:WIDTH].replace('|', '/')} |" for row in rows]
    passed = sum(row.status == "PASS" for row in rows)
    return "\n".join([*lines, "", f"{passed} of {len(rows)} passed"])


def main() -> int:
    runner = Path(sys.argv[1]) / "run_corpus.py"
    if not runner.exists():
        print(f"downstream: {runner} does not exist; name the folder that has it")
        return 2
    options = without_case(sys.argv[2:])
    rows = []
    for case in cases(runner, sys.argv[2:]):
        rows.append(run(runner, case, options))
        print(f"{rows[-1].status:6s} {case} {rows[-1].seconds:.1f} s", flush=True)
    print(table(rows))
    return int(any(row.status != "PASS" for row in rows))


def without_case(options: list[str]) -> list[str]:
    """The options but `--case NAMES`."""
    if "--case" not in options:
        return options
    place = options.index("--case")
    return [*options[:place], *options[place + 2 :]]


if __name__ == "__main__":
    sys.exit(main())
