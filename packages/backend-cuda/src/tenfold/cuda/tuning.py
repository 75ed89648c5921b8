"""Which block sizes a kernel runs with: a guess, or what was found fastest on this kind of GPU.

With `tenfold.backends.cudnn.benchmark = True`, PyTorch's switch for this, a kernel that has a choice times its candidates when
it first meets a class of sizes; `python -m tenfold.cuda.tuning` does so for common ones. What was found is kept in a file for
each kind of GPU in Triton's cache, and holds from then on, whether the switch is on or not. Nothing is timed while a graph is
recorded.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tenfold.cuda import availability, capturing, playing, runtime
from tenfold.cuda.recordings import spoil
from tenfold.cuda.shared_memory import TooLarge

VERSION = 1  # of the file, and of what candidates mean
ROUNDS, ROUND_MS, MOST = 5, 1.0, 20  # a candidate runs ROUNDS times for about ROUND_MS, but MOST times at most
MANY = 4096  # decisions that are remembered by their exact sizes
Tile = tuple[int, ...]
_seen: dict[tuple[Any, ...], Tile] = {}  # by (kernel, problem, GPU): what has been decided in this process
_too_large: set[tuple[Any, ...]] = set()  # (kernel, problem, candidate, GPU) that do not fit
_tables: dict[str, dict[str, Any]] = {}  # by the GPUs' names: what their files said, and what was found since
_names: dict[int, str] = {}


def chosen(kernel: str, problem: tuple[Any, ...], candidates: Sequence[Tile], run: Callable[[Tile], Any], index: int) -> Tile:
    """The candidate that a kernel runs with on a GPU; the first one is the guess.

    `problem` says what the times depend on: dtypes, flags and sizes, of which those of one power of 2 are of one class. `run`
    runs the kernel with a candidate, as often as it is called.
    """
    if len(candidates) == 1:
        return candidates[0]
    name = _names.get(index) or _name(index)
    known, times_them = _table(name), wanted()
    if not known and not times_them:
        return candidates[0]
    place = (kernel, problem, index, times_them)
    found = _seen.get(place)
    if found is not None:
        return found
    if len(_seen) > MANY:  # sizes that grow step by step
        _seen.clear()
    key = " ".join([kernel, *map(_class, problem)])
    if key in known and (tile := tuple(known[key]["tile"])) in candidates:
        _seen[place] = tile
        return tile
    if times_them and capturing.CAPTURES and capturing.current() is not None:
        return candidates[0]
    if not times_them:
        _seen[place] = candidates[0]
        return candidates[0]
    spoil()
    times = {tile: measure(run, tile, index) for tile in candidates}
    best = min(times, key=lambda tile: times[tile])
    _seen[place] = best
    playing.forget()
    known[key] = {"tile": list(best), "us": {_words(tile): round(us, 2) for tile, us in times.items() if us < float("inf")}}
    _keep(name, {key: known[key]})
    return best


def run_chosen(
    kernel: str,
    problem: tuple[Any, ...],
    candidates: Sequence[Tile],
    run: Callable[[Tile], Any],
    index: int,
    last: Callable[[Tile], Any] | None = None,
) -> Any:
    """Run a kernel with the candidate that is chosen, or where that does not fit the GPU with the next one.

    `last` runs it where that differs from how it runs to be timed.
    """
    left = [tile for tile in candidates if (kernel, problem, tile, index) not in _too_large] if _too_large else candidates
    while True:
        tile = chosen(kernel, problem, left, run, index)
        try:
            return (last or run)(tile)
        except TooLarge:
            if len(left) == 1:
                raise
            if len(_too_large) > MANY:
                _too_large.clear()
            _too_large.add((kernel, problem, tile, index))
            _seen.pop((kernel, problem, index, wanted()), None)
            left = [other for other in left if other != tile]


def wanted() -> bool:
    """Whether candidates are timed: not where kernels are interpreted, unless a test puts a clock of its own in place."""
    switches = sys.modules.get("tenfold.backends.cudnn")  # nobody has set any in a module that is not loaded
    return bool(switches and switches.benchmark) and (measure is not by_events or not runtime.is_replaced())


def by_events(run: Callable[[Tile], Any], tile: Tile, index: int) -> float:
    """Microseconds of the kernel with a candidate; infinity for one that does not fit the GPU."""
    cuda = runtime.current().module.cuda
    with cuda.Device(index):
        begin, end = cuda.Event(), cuda.Event()

        def timed(count: int) -> float:
            begin.record()
            for _ in range(count):
                run(tile)
            end.record()
            end.synchronize()
            return float(cuda.get_elapsed_time(begin, end)) / count

        try:
            run(tile)  # compiles
            once = timed(1)
        except Exception as error:  # noqa: BLE001 - a compiler or the driver raises anything for a block that is too large
            print(f"tenfold.cuda.tuning: left out {tile}: {type(error).__name__}", file=sys.stderr)
            return float("inf")
        count = max(1, min(MOST, int(ROUND_MS / max(once, 1e-3))))
        return 1e3 * statistics.median(timed(count) for _ in range(ROUNDS))


measure: Callable[[Callable[[Tile], Any], Tile, int], float] = by_events


def _class(part: Any) -> str:
    if type(part) is int and part > 16:
        return f"{1 << (part - 1).bit_length()}"
    if type(part) is tuple:
        return "".join(map(str, part))
    return str(part)


def _words(tile: Tile) -> str:
    return "x".join(map(str, tile))


def _name(index: int) -> str:
    found = _names.get(index)
    if found is None:
        now = runtime.current()
        found = "interpreter"
        if not runtime.is_replaced():
            given = now.module.cuda.runtime.getDeviceProperties(index)["name"]
            found = given.decode() if isinstance(given, bytes) else str(given)
        _names[index] = found
    return found


def path_of(name: str) -> Path:
    """The file for a kind of GPU."""
    from triton import knobs  # with the first kernel

    return Path(knobs.cache.dir) / f"tenfold-tiles-{re.sub(r'[^A-Za-z0-9]+', '-', name)}.json"


def _table(name: str) -> dict[str, Any]:
    found = _tables.get(name)
    if found is None:
        found = _tables[name] = {} if name == "interpreter" and measure is by_events else _read(path_of(name))
    return found


def _heading() -> dict[str, Any]:
    import triton

    return {"version": VERSION, "triton": triton.__version__}


def _read(path: Path) -> dict[str, Any]:
    """What a file says; nothing if it is of another version, or broken."""
    try:
        given = json.loads(path.read_text())
        if all(given[key] == value for key, value in _heading().items()):
            return {key: row for key, row in given["tiles"].items() if all(type(n) is int for n in row["tile"])}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return {}


def _keep(name: str, rows: dict[str, Any]) -> None:
    """Add rows to a file: others that write it meanwhile wait, and who reads it sees it as it was or as it is then."""
    path = path_of(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            text = json.dumps({**_heading(), "gpu": name, "tiles": {**_read(path), **rows}}, indent=1)
            handle, made = tempfile.mkstemp(dir=path.parent, prefix=path.stem)
            with os.fdopen(handle, "w") as file:
                file.write(text)
            os.replace(made, path)
    except OSError as error:
        warnings.warn(f"the block sizes that were found fastest are not kept: {error}", stacklevel=2)


def forget() -> None:
    """Decide anew, by what the files say then."""
    for kept in (_seen, _too_large, _tables, _names):
        kept.clear()
    playing.forget()


def main(arguments: Sequence[str] | None = None) -> int:
    """Time the candidates for common sizes and print what is fastest; the exit status is 1 where there is no GPU."""
    if measure is by_events and not availability.probe()[0]:
        print(f"tenfold.cuda.tuning: there is nothing to time: {availability.probe()[1]}")
        return 1
    import tenfold  # its switches, and whatever the sizes need
    from tenfold.cuda import standard_sizes  # which needs that, too

    cudnn = tenfold.backends.cudnn
    before, cudnn.benchmark = cudnn.benchmark, True
    try:
        for label, call in standard_sizes.calls(list(sys.argv[1:] if arguments is None else arguments)):
            print(label, flush=True)
            call()
    finally:
        cudnn.benchmark = before
    name = _name(runtime.current().current_index())
    for key, row in sorted(_table(name).items()):
        print(f"{key}: {_words(row['tile'])}  ({', '.join(f'{tile} {us}' for tile, us in row['us'].items())} us)")
    print(f"{name}: {len(_table(name))} rows in {path_of(name)}")
    return 0


if __name__ == "__main__":
    # One module, not two: the kernels ask the one that is imported by its name.
    from tenfold.cuda.tuning import main as started  # see above

    raise SystemExit(started())
