"""The report of what was run on a GPU (on_gpu.py): tables of the files that tests and benchmarks wrote as they went."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST = 100  # failures of tests that are named


def report(out: Path) -> str:
    """What was run: the machine, the tests of each part, the benchmark's table; written to report.md."""
    lines = ["# On a GPU", ""]
    smoke, benchmark, steps = (read(out / name) for name in ("gpu-smoke.json", "gpu.json", "gpu-steps.json"))
    versions = next((found["versions"] for found in (smoke, benchmark) if found and "versions" in found), None)
    lines += [", ".join(f"{name} {value}" for name, value in versions.items()), ""] if versions else []
    lines += _smoke(smoke) if smoke else []
    lines += ["| tests | passed | failed | skipped | seconds |", "|---|---|---|---|---|"]
    failures: list[str] = []
    for path in sorted(out.glob("gpu-*.jsonl")):
        row, found = _tested(path)
        lines.append(row)
        failures += found
    lines += ["", *[f"- {text}" for text in failures[:MOST]]]
    lines += [f"- and {len(failures) - MOST} more"] if len(failures) > MOST else []
    lines += _measured(benchmark) if benchmark else []
    lines += _steps(steps) if steps else []
    text = "\n".join(lines) + "\n"
    (out / "report.md").write_text(text, encoding="utf-8")
    return text


def read(path: Path) -> Any:
    """What a file of results says; None where there is none."""
    return json.loads(path.read_text()) if path.exists() else None


def _smoke(found: dict[str, Any]) -> list[str]:
    told = f"First calls: {len(found['rows'])} right, {len(found['failures'])} failed"
    ended = "" if found["done"] else f"; ended in {found['running'] or 'between two'}"
    return [f"{told}{ended}.", "", *[f"- failed: {text}" for text in found["failures"]], ""]


def _tested(path: Path) -> tuple[str, list[str]]:
    """(the table's row of a part, its failures in a line each): a test that failed and ended its process is one failure."""
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    of: dict[str, list[Any]] = {}
    for line in lines:
        of.setdefault(line["name"], []).append(line)
    bad = [next(line for line in found if line["outcome"] == "failed") for found in of.values() if _has(found, "failed")]
    skipped = sum(_has(found, "skipped") and not _has(found, "failed") for found in of.values())
    seconds = sum(line["seconds"] for line in lines)
    row = f"| {path.stem[4:]} | {len(of) - skipped - len(bad)} | {len(bad)} | {skipped} | {seconds:.0f} |"
    return row, [f"`{Path(line['name']).name}`: {line['said'][:200]}" for line in bad]


def _has(found: list[Any], outcome: str) -> bool:
    return any(line["outcome"] == outcome for line in found)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(names)
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|", *[f"| {' | '.join(row)} |" for row in rows], ""]


def _measured(found: dict[str, Any]) -> list[str]:
    rates = {k: f"{v / 1e6:.2f} TB/s" if k == "copy" else f"{v / 1e6:.0f} TFLOP/s" for k, v in found.get("limits", {}).items()}
    lines = ["", "## Kernels", "", "Reached: " + ", ".join(f"{k} {v}" for k, v in rates.items()) + ".", ""]
    rows = []
    for row in found["rows"]:
        kept = {None: "", True: "kept", False: "**missed**"}[row["kept"]]
        bar = "" if row["bar"] is None else f"{row['bar']:.2f}"
        share = f"{row['share']:.0%}" if row["bytes"] or row["operations"] else ""
        rows.append([row["name"], row["dtype"], *[_number(row[k]) for k in ("device_us", "torch_us", "host_us")],
                     _number(row["ratio"], 2), bar, share, kept])  # fmt: skip
    names = ("work", "dtype", "us", "PyTorch us", "host us", "ratio", "bar", "of the limit", "")
    lines += _table(names, rows)
    host = found.get("small_calls_us", {})
    lines += _table(("call on 16 numbers", "host us"), [[name, _number(value, 2)] for name, value in host.items()])
    return lines + [f"- failed: {text}" for text in found["failures"]] + [f"- left out: {text}" for text in found["left_out"]]


def _steps(found: dict[str, Any]) -> list[str]:
    rows = []
    for row in found["rows"]:
        ours, theirs = row["ours"], row["torch"]
        rows.append([row["step"], _number(row["limit_ms"], 3), *[_number(side.get(kind), 3) for side in (ours, theirs)
                     for kind in ("eager", "graphed")], _number(theirs.get("compiled"), 3)])  # fmt: skip
    names = ("step", "limit ms", "eager", "graphed", "PyTorch eager", "PyTorch graphed", "torch.compile")
    return ["## Steps", "", *_table(names, rows), *[f"- failed: {text}" for text in found["failures"]]]


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"
