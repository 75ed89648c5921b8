"""Loads files that were changed at random: nothing but CheckpointError, bounded memory and time.

    python packages/checkpoint/tests/hostile/fuzz.py --kind pt --count 10000 --seed 0

A changed file may still load; then every tensor must lie inside its storage. Exit status 1 tells of anything else.
"""

from __future__ import annotations

import argparse
import collections
import io
import json
import random
import resource
import signal
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import tenfold
from tenfold.checkpoint.errors import CheckpointError
from tenfold.checkpoint.safetensors import load_file, load_metadata, save_file

try:
    from hostile import corpus  # from the tests
except ModuleNotFoundError:
    import corpus  # as a script

MEMORY = 512 << 20  # bytes of address space beyond what the process has at the start
LIMIT_S = 5.0


def good_files(kind: str) -> list[bytes]:
    """Files as `save` writes them."""
    if kind == "safetensors":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x")
            save_file({"w": tenfold.ones(2, 3), "b": tenfold.arange(5), "e": tenfold.zeros(0, 2)}, path, {"step": "3"})
            return [path.read_bytes()]
    found = []
    for i, obj in enumerate(corpus.good_objects(tenfold)):
        for modern in (True, False):
            file = io.BytesIO()
            tenfold.save(obj, file, pickle_protocol=(2, 4)[i % 2], _use_new_zipfile_serialization=modern)
            found.append(file.getvalue())
    return found


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few bytes flipped, a part cut, doubled, moved, zeroed, or a number replaced by an extreme one."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at, length = rng.randrange(max(len(out), 1)), rng.choice((1, 2, 4, 8, 64))
        what = rng.randrange(7)
        if what == 0 and out:
            out[at % len(out)] = rng.randrange(256)
        elif what == 1 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif what == 2:
            del out[at : at + length]
        elif what == 3:
            out[at:at] = out[at : at + length]
        elif what == 4:
            out[at:at] = bytes(rng.randrange(256) for _ in range(length))
        elif what == 5:
            out[at : at + length] = rng.choice((b"\xff", b"\x00", b"\x7f", b"\x80")) * length
        else:
            other = rng.randrange(max(len(out), 1))
            out[at : at + length] = out[other : other + length]
    return bytes(out[: rng.randrange(len(out))] if out and rng.random() < 0.05 else out)


def changed(data: bytes, kind: str, rng: random.Random) -> bytes:
    """The file changed anywhere, or inside what a checksum or a length would else protect."""
    if rng.random() < 0.5:
        return mutated(data, rng)
    if kind == "safetensors":
        length = int.from_bytes(data[:8], "little")
        header = mutated(data[8 : 8 + length], rng)
        return len(header).to_bytes(8, "little") + header + data[8 + length :]
    if not data.startswith(b"PK"):
        return mutated(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        records = {name.partition("/")[2]: source.read(name) for name in source.namelist()}
    pickled = mutated(records.pop("data.pkl"), rng)
    return corpus.archive(pickled, records, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def check(value: Any, seen: set[int], left: list[int]) -> None:
    """Every tensor that was made lies inside its storage."""
    left[0] -= 1
    if id(value) in seen or left[0] < 0:
        return
    seen.add(id(value))
    if isinstance(value, tenfold.Tensor) and not value.is_meta and value.numel():
        last = value.storage_offset() + sum((n - 1) * s for n, s in zip(value.shape, value.stride()))
        assert (last + 1) * value.itemsize <= value.untyped_storage().nbytes(), (value.shape, value.stride())
        if value.numel() < 1 << 20:
            value.tolist()
    elif isinstance(value, dict):
        for part in [*value.keys(), *value.values()]:
            check(part, seen, left)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            check(part, seen, left)


def attempt(path: Path, kind: str) -> str:
    """How one file ends: "loaded", or the exception's name."""
    try:
        if kind == "safetensors":
            load_metadata(path)
            check(load_file(path), set(), [10_000])
        else:
            check(tenfold.load(path), set(), [10_000])
    except CheckpointError as error:
        return type(error).__name__ if path.name in str(error) else f"CheckpointError without the file's name: {error}"
    return "loaded"


class Late(BaseException):
    """Not an Exception, which a loader may turn into its own."""


def late(*_: Any) -> None:
    raise Late(f"more than {LIMIT_S} s")


def main() -> int:
    """Try so many files and print how they ended, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("pt", "safetensors"), default="pt")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", action="store_true", help="load the files of corpus.py instead, none of which may load")
    given = parser.parse_args()
    rng, ends, faults = random.Random(given.seed), collections.Counter[str](), []
    good = good_files(given.kind)
    made = dict(corpus.checkpoints() if given.kind == "pt" else corpus.tensors_files()) if given.corpus else {}
    names = list(made) or [str(i) for i in range(given.count)]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGALRM, late)
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file.{given.kind}")
        for name in names:
            data = made[name] if made else changed(rng.choice(good), given.kind, rng)
            path.write_bytes(data)
            began = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
            try:
                end = attempt(path, given.kind)
            except BaseException as error:  # noqa: BLE001 - what it is, is the result
                end = f"{type(error).__name__}: {error}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            slowest = max(slowest, time.perf_counter() - began)
            fine = end in ("CheckpointError", "EmptyFileError") or (end == "loaded" and not made)
            if not fine:
                faults.append(f"{name}: {end}"[:300])
            ends[end if fine else "fault"] += 1
    print(json.dumps({"ends": ends, "slowest_s": round(slowest, 3), "faults": faults[:20]}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
