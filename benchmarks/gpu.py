"""Checks and times the device "cuda" in one call: python benchmarks/gpu.py [--only TEXT] [--seconds N] [--interpret].

Every piece of work (gpu_cases.py) is compared with the CPU on a small size, and with PyTorch on the full one where that is
installed; then both are timed in turns, medians, beside what the hardware allows: the bandwidth of a copy and the rate of a
large product, measured first. The table comes last; what is known so far is in gpu.json after each piece, so that an end of
the time loses nothing, and --resume goes on where a process ended (progress.py). With --interpret the script tries itself in
Triton's interpreter: those times mean nothing. With --machine-code it times nothing and says what each piece of work launches on
this GPU, how wide it reads, and what is resident.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--interpret", action="store_true", help="try the script without a GPU")
parser.add_argument("--unchecked", action="store_true", help="compare no values: for rehearsals, which compute nothing")
parser.add_argument("--machine-code", action="store_true", help="time nothing: print what is launched, and what its code says")
parser.add_argument("--only", default="", help="a part of the group or name of the work to be timed")
parser.add_argument("--seconds", type=float, default=540, help="no piece of work begins after so many seconds")
parser.add_argument("--resume", action="store_true", help="go on where a process ended, by what its gpu.json says")
parser.add_argument("--out", type=Path, default=Path("."), help="where gpu.json is written")
OPTIONS = parser.parse_args()
SMALL = OPTIONS.interpret
if SMALL:
    os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton

import numpy as np  # noqa: E402
from gpu_cases import HALF, Case, Side, Work, cases, given  # noqa: E402
from progress import Progress  # noqa: E402

import tenfold  # noqa: E402
from tenfold import cuda  # noqa: E402

if SMALL:
    from tenfold.cuda import interpreter

    interpreter.use()
elif not cuda.is_available():
    print(f"not measured: device 'cuda' is not available: {cuda.unavailable_reason()} (--interpret tries the script without one)")
    raise SystemExit(0)  # the other benchmarks go on

BEGAN = time.perf_counter()
TURNS, TURN_S, MOST_CALLS = (1, 0.0, 1) if SMALL else (5, 0.02, 50)
SAMPLED = 1 << 16  # numbers of a large result that are compared
TOLERANCES = {"float32": 3e-4, "float16": 1e-2, "bfloat16": 5e-2}


def optional(name: str) -> Any:
    """A module, or None where it is not installed, or a library that it needs is not."""
    with contextlib.suppress(ImportError, OSError):
        return importlib.import_module(name)
    return None


TORCH = None if SMALL else optional("torch")
if TORCH is not None and not TORCH.cuda.is_available():
    TORCH = None


def numbers(result: Any) -> list[Any]:
    """A result as NumPy arrays; of large ones some of their numbers, as far apart as that needs."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in numbers(part)]
    flat = result.detach().reshape(-1)
    return [flat[:: max(1, flat.numel() // SAMPLED)].double().cpu().numpy()]


def error(got: Any, expected: Any) -> float:
    """The largest error relative to the largest value, of all parts of a result."""
    found = 0.0
    for a, b in zip(numbers(got), numbers(expected), strict=True):
        assert a.shape == b.shape, f"{a.shape} and {b.shape}"
        assert np.isnan(a).sum() == np.isnan(b).sum(), "nan"
        if a.size:
            found = max(found, float(np.nanmax(np.abs(a - b)) / max(float(np.nanmax(np.abs(b))), 1e-30)))
    return found


def checked(case: Case, name: str) -> float:
    """The error of the device on a small size, beside the CPU; AssertionError when it is too large."""
    dtype = getattr(tenfold, name)
    if OPTIONS.unchecked:
        return 0.0
    got = case.make(Side(tenfold, "cuda", True), dtype).run()
    if case.drawn:
        return 0.0
    expected = case.make(Side(tenfold, "cpu", True), dtype).run()
    found = error(got, expected)
    assert found <= TOLERANCES[name], f"error {found:.2g} beside the CPU"
    return found


def turn(run: Callable[[], Any], synchronize: Callable[[], Any], calls: int) -> tuple[float, float]:
    """(microseconds of one call, those of them that the host needed), of some calls at once."""
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    issued = time.perf_counter()
    synchronize()
    return (time.perf_counter() - begin) / calls * 1e6, (issued - begin) / calls * 1e6


def calls_of(run: Callable[[], Any], synchronize: Callable[[], Any]) -> int:
    """How many calls a turn takes; everything is compiled and warm after it."""
    turn(run, synchronize, 2)
    return int(min(MOST_CALLS, max(1, TURN_S * 1e6 / max(turn(run, synchronize, 1)[0], 1))))


def timed(case: Case, name: str) -> dict[str, Any]:
    """Times of the full size by both libraries, in turns."""
    ours = case.make(Side(tenfold, small=SMALL), getattr(tenfold, name))
    theirs, difference = peer(case, name, ours)
    sides = [(ours, cuda.synchronize)] + ([(theirs, TORCH.cuda.synchronize)] if theirs is not None and TORCH else [])
    calls = [calls_of(side.run, wait) for side, wait in sides]
    found: list[list[tuple[float, float]]] = [[] for _ in sides]
    for _ in range(TURNS):
        for (side, wait), many, times in zip(sides, calls, found):
            times.append(turn(side.run, wait, many))
    times_us = [median(t for t, _ in times) for times in found]
    return {
        "device_us": times_us[0], "host_us": median(h for _, h in found[0]),
        "torch_us": times_us[1] if theirs is not None else None, "difference": difference,
        "bytes": ours.bytes_moved, "operations": ours.operations,
    }  # fmt: skip


def peer(case: Case, name: str, ours: Work) -> tuple[Work | None, float | None]:
    """(the work by PyTorch, how far its result is from ours); None where it is not installed, or cannot do it."""
    if TORCH is None:
        return None, None
    try:
        theirs = case.make(Side(TORCH), getattr(TORCH, name))
        result = theirs.run()
    except Exception as failure:  # noqa: BLE001 - ours is timed all the same
        print(f"PyTorch: {case.name} {name}: {type(failure).__name__}: {str(failure)[:200]}", file=sys.stderr)
        return None, None
    return theirs, None if case.drawn or OPTIONS.unchecked else error(ours.run(), result)


def limits(found: dict[str, float]) -> None:
    """What the hardware allows: bytes a microsecond of a copy, and operations a microsecond of a large product, by dtype."""
    n, side = (1 << 12, 32) if SMALL else (1 << 26, 8192)
    x = given(Side(tenfold), tenfold.float32, n)
    found["copy"] = 8.0 * n / fastest(Work(x.clone, 0))
    for name in TOLERANCES:
        y = given(Side(tenfold), getattr(tenfold, name), side, side)
        found[name] = 2.0 * side**3 / fastest(Work(lambda: y @ y, 0))  # noqa: B023 - called at once


def fastest(work: Work) -> float:
    calls = calls_of(work.run, cuda.synchronize)
    return min(turn(work.run, cuda.synchronize, calls)[0] for _ in range(TURNS))


def small_calls_us() -> dict[str, float]:
    """Host time of calls on 16 numbers: what they cost before the GPU has anything to do."""
    found = {}
    for lib, wait in ((tenfold, cuda.synchronize), *([(TORCH, TORCH.cuda.synchronize)] if TORCH else [])):
        x, y = (given(Side(lib), lib.float32, 4, 4, seed=k) for k in (0, 1))
        calls: dict[str, Callable[[], Any]] = {
            "x + y": lambda: x + y, "x * 2": lambda: x * 2, "x.exp()": x.exp, "x.sum()": x.sum, "x @ y": lambda: x @ y,  # noqa: B023
            "x.softmax(1)": lambda: x.softmax(1), "x[0]": lambda: x[0],  # noqa: B023 - called at once
        }  # fmt: skip
        for name, call in calls.items():
            turn(call, wait, MOST_CALLS)
            found[f"{lib.__name__} {name}"] = median(turn(call, wait, MOST_CALLS * 4)[1] for _ in range(TURNS))
    return found


def versions() -> dict[str, Any]:
    modules = {name: getattr(optional(name), "__version__", None) for name in ("numpy", "triton", "cupy", "torch")}
    device = {"device": cuda.get_device_name(), "python": platform.python_version()}
    if not SMALL:
        device["driver"] = str(importlib.import_module("cupy").cuda.runtime.driverGetVersion())
    return {**device, **modules}


def verdict(row: dict[str, Any], allowed: dict[str, float]) -> dict[str, Any]:
    """The row with its ratio to PyTorch's time, its share of what the hardware allows, and whether it keeps its promises."""
    device = row["device_us"]
    done, most = (row["operations"], row["dtype"]) if row["operations"] else (row["bytes"], "copy")
    share = done / device / allowed.get(most, float("inf"))  # which could not be measured
    ratio = device / row["torch_us"] if row["torch_us"] else None
    kept = None
    if ratio is not None and row["bar"] is not None:
        kept = ratio <= row["bar"] * 1.005 and share >= row["limit"]
    return {**row, "share": share, "ratio": ratio, "kept": kept}


def line(row: dict[str, Any]) -> str:
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    peer = "" if row["torch_us"] is None else f"{row['torch_us']:.1f}"
    bar = "" if row["bar"] is None else f"{row['bar']:.2f}"
    word = {None: "", True: "kept", False: "MISSED"}[row["kept"]]
    share = f"{row['share']:.0%}" if row["bytes"] or row["operations"] else ""
    return (
        f"{row['name']:34} {row['dtype']:9} {row['error']:8.1e} {row['device_us']:10.1f} {row['host_us']:8.1f} {peer:>10} "
        f"{ratio:>6} {bar:>5} {share:>6} {word}"
    )


def launched() -> int:
    """Print the machine code's table of each piece of work: also over the stub driver, where there is no GPU."""
    from tenfold.cuda import machine_code

    major, minor = cuda.get_device_capability()
    print(machine_code.HEADING)
    for case in cases():
        for name in case.dtypes:
            told = f"{case.group}: {case.name} {name}"
            if OPTIONS.only in told:
                work = case.make(Side(tenfold, small=SMALL), getattr(tenfold, name))
                with machine_code.watched() as launches:
                    work.run()
                print(f"-- {told}", *machine_code.table(launches, work.bytes_moved, 10 * major + minor), sep="\n", flush=True)
    return 0


def pieces() -> list[tuple[Case, str]]:
    """All work, each in one dtype before any in another: a time that ends early leaves dtypes out, not whole groups."""
    found = [(case, name) for case in cases() for name in sorted(case.dtypes, key=lambda name: name not in HALF)]
    return sorted(found, key=lambda piece: piece[1] != next(name for case, name in found if case is piece[0]))


def measured(case: Case, name: str, found: dict[str, Any]) -> None:
    """Check and time a piece of work, into the results."""
    row = {"group": case.group, "name": case.name, "dtype": name, "bar": case.bar, "limit": case.limit,
           "error": checked(case, name), **timed(case, name)}  # fmt: skip
    found["rows"].append(verdict(row, found["limits"]))


def main() -> int:
    """Check, time, print; the exit status is the number of pieces that failed."""
    progress = Progress(OPTIONS.out / "gpu.json", OPTIONS.resume)
    result = progress.found
    result.setdefault("limits", {})
    progress.piece("versions", lambda: result.update(versions=versions()))
    progress.piece("limits", lambda: limits(result["limits"]))
    for case, name in pieces():
        told = f"{case.group}: {case.name} {name}"
        if OPTIONS.only not in told or told in result["tried"]:
            continue
        if time.perf_counter() - BEGAN > OPTIONS.seconds:
            result["left_out"].append(told)
            continue
        progress.piece(told, partial(measured, case, name, result))
        for side in (cuda, TORCH and TORCH.cuda):
            if side is not None:
                side.empty_cache()
    progress.piece("small calls", lambda: result.update(small_calls_us=small_calls_us()))
    status = progress.end()
    report(result)
    return status


def report(result: dict[str, Any]) -> None:
    """Print the tables."""
    print(json.dumps(result.get("versions")))
    rates = {k: f"{v / 1e6:.2f} TB/s" if k == "copy" else f"{v / 1e6:.0f} TFLOP/s" for k, v in result["limits"].items()}
    print("limits:", ", ".join(f"{k} {v}" for k, v in rates.items()))
    for name, value in result.get("small_calls_us", {}).items():
        print(f"{name:24} {value:8.2f} us of host time")
    names = f"{'device us':>10} {'host us':>8} {'torch us':>10} {'ratio':>6} {'bar':>5} {'limit':>6}"
    print(f"{'work':34} {'dtype':9} {'error':>8} {names}")
    group, order = "", [(case.group, case.name) for case in cases()]
    for row in sorted(result["rows"], key=lambda row: order.index((row["group"], row["name"]))):
        if row["group"] != group:
            group = row["group"]
            print(f"-- {group}")
        print(line(row))
    promised = [row["kept"] for row in result["rows"] if row["kept"] is not None]
    print(f"{sum(promised)} of {len(promised)} promises kept; {len(result['left_out'])} pieces left out for want of time")
    for failure in result["failures"]:
        print("FAILED", failure, file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(launched() if OPTIONS.machine_code else main())
