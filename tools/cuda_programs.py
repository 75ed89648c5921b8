"""Real PyTorch programs, unmodified, on the device "cuda": python tools/cuda_programs.py SRC DATA [--case NAME,...] [OPTIONS]

SRC holds checkouts of the repositories that cuda_cases.py names, DATA what the corpus' make_data.py makes. Each program runs on
Tenfold's device "cuda" in Triton's interpreter, on Tenfold's CPU, and with --torch PYTHON on PyTorch's CPU. The numbers that it
prints must be the same, to the case's tolerance, and what it writes must be there. On the device random numbers come from the
CPU's stream, so that first values and dropout are those of the other runs; with --own-draws from the device's: then
programs have to end well, and no numbers are compared.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from cuda_cases import CASES, Case

HERE = Path(__file__).parent
NUMBER = r"([-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?))"
SHOWN = 3  # numbers of a row


class Ran(NamedTuple):
    """What came of one run of a program."""

    error: str
    numbers: list[float]
    seconds: float


def cut(source: Path, target: Path, count: int) -> None:
    """The first images and labels of MNIST's files."""
    (target / "raw").mkdir(parents=True, exist_ok=True)
    for path in (source / "raw").glob("*-ubyte"):
        data = path.read_bytes()
        sizes = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
        head = data[:4] + struct.pack(f">{data[3]}I", min(count, sizes[0]), *sizes[1:])
        kept = head + data[len(head) : len(head) + min(count, sizes[0]) * math.prod(sizes[1:])]
        (target / "raw" / path.name).write_bytes(kept)
        (target / "raw" / (path.name + ".gz")).write_bytes(gzip.compress(kept))


def lay_out(case: Case, work: Path, src: Path, data: Path) -> Path:
    """The program's files and data in a folder of their own; the folder where it runs."""
    place = work / "a" / "b" / "p"
    if case.tree:
        shutil.copytree(src / case.tree, place)
    else:
        place.mkdir(parents=True)
    for name, where in case.data:
        name, _, count = name.partition(":")
        source, target = (src if (src / name).exists() else data) / name, Path(os.path.normpath(place / where))
        target.parent.mkdir(parents=True, exist_ok=True)
        if count:
            cut(source, target, int(count))
        elif source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    return place


def environment(case: Case, engine: str, a: argparse.Namespace) -> dict[str, str]:
    """Of a run on the engine "cuda", "cpu" or "torch"."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR", "TRITON_CACHE_DIR")}
    path = [str(HERE / "interpreted"), *(str(a.src / name) for name in case.libraries)]
    for name in case.stubs if a.corpus else ():
        path += [str(a.corpus / "stubs" / name)] if name != "torchvision" or engine == "torch" else []
    kept.update(OMP_NUM_THREADS="1", TENFOLD_NUM_THREADS="1", PYTHONHASHSEED="0", MPLBACKEND="Agg", HF_HUB_OFFLINE="1")
    kept.update(CORPUS_HTTP_DIR=str(a.data / "http"), PROGRAM_DEVICE="cuda" if engine == "cuda" else "cpu", PYTHONUNBUFFERED="1")
    if engine == "cuda":
        kept.update(TENFOLD_HOST_DRAWS="0" if a.own_draws or case.alone else "1")
    if engine == "torch" and a.libraries:
        path.append(str(a.libraries))
    return kept | {"PYTHONPATH": os.pathsep.join(path)}


def run(case: Case, engine: str, a: argparse.Namespace) -> Ran:
    """All steps of a program on one engine."""
    started, said = time.time(), ""
    work = Path(tempfile.mkdtemp(prefix=f"{case.name}-{engine}-", dir=a.keep))
    try:
        place = lay_out(case, work, a.src, a.data)
        for step in case.steps:
            chosen = f"{step} {case.cuda if engine == 'cuda' else case.cpu}".replace("HERE", str(HERE)).split()
            command = [a.torch] if engine == "torch" else [sys.executable, "-m", "tenfold.as_torch"]
            try:
                done = subprocess.run(
                    [*command, *chosen], cwd=place / case.folder, env=environment(case, engine, a), stdin=subprocess.DEVNULL,
                    capture_output=True, text=True, errors="replace", timeout=a.limit, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Ran(f"longer than {a.limit:.0f} s", [], time.time() - started)
            said += done.stdout + "\n" + done.stderr
            if a.v:
                print(done.stdout[-3000:], done.stderr[-6000:], flush=True)
            if done.returncode:
                return Ran(f"exit {done.returncode}: {last_error(done.stderr or done.stdout)}", [], time.time() - started)
        lost = [name for name in case.files if not (place / case.folder / name).exists()]
    finally:
        if not a.keep:
            shutil.rmtree(work, ignore_errors=True)
    found = re.findall(case.numbers.replace("{}", NUMBER), said, re.IGNORECASE) if case.numbers else []
    numbers = [float(x) for group in found for x in ([group] if isinstance(group, str) else group)]
    return Ran(f"did not write {', '.join(lost)}" if lost else "", numbers, time.time() - started)


def last_error(text: str) -> str:
    """The line that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt|Warning)\b", line)]
    return (named or lines or ["no output"])[-1][:300]


def difference(got: Ran, want: Ran, tolerance: float) -> str:
    """The first number that is not the other run's, or nothing."""
    if want.error:
        return ""
    if len(got.numbers) != len(want.numbers):
        return f"{len(got.numbers)} numbers, not {len(want.numbers)}"
    for i, (g, w) in enumerate(zip(got.numbers, want.numbers)):
        if not (math.isclose(g, w, rel_tol=tolerance, abs_tol=tolerance / 10) or (math.isnan(g) and math.isnan(w))):
            return f"number {i + 1} of {len(got.numbers)}: {g}, not {w}"
    return ""


def row(case: Case, a: argparse.Namespace) -> tuple[bool, str]:
    """Whether a program did well, and its line in the table."""
    engines = ["cuda", *([] if a.own_draws or case.alone else ["cpu", *(["torch"] if a.torch else [])])]
    ran = {engine: run(case, engine, a) for engine in engines}
    here = ran["cuda"]
    told = [here.error] if here.error else []
    for engine in engines[1:] if not here.error else []:
        found = difference(here, ran[engine], case.tolerance)
        told += [f"{engine}: {found}"] if found else []
    told += [f"{engine} fails: {ran[engine].error}" for engine in engines[1:] if ran[engine].error]
    if case.numbers and not here.numbers and not here.error:
        told.append("printed no numbers")
    good = all(" fails: " in one for one in told)
    result = "FAILS" if not good else "same" if case.numbers and not a.own_draws else "runs"
    seen = " ".join(f"{x:g}" for x in here.numbers[-SHOWN:])
    times = ", ".join(f"{engine} {ran[engine].seconds:.0f} s" for engine in engines)
    return good, f"| {case.name} | {result} | {times} | {seen} {'; '.join(told)} |"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("src", type=Path)
    options.add_argument("data", type=Path)
    options.add_argument("--case", default="", help="names, or beginnings of names, with commas between")
    options.add_argument("--torch", default="", help="a Python that has PyTorch")
    options.add_argument("--libraries", type=Path, help="a folder of site-packages for that Python")
    options.add_argument("--corpus", type=Path, help="the folder with the stand-ins for packages that programs import")
    options.add_argument("--own-draws", action="store_true", help="random numbers of the device's own streams")
    options.add_argument("--limit", type=float, default=300, help="seconds for a step")
    options.add_argument("--keep", help="leave the programs' folders in this one")
    options.add_argument("-v", action="store_true", help="print the ends of what programs say")
    a = options.parse_args()
    a.src, a.data = a.src.resolve(), a.data.resolve()
    wanted = tuple(x for x in a.case.split(",") if x)
    chosen = [case for case in CASES if not wanted or case.name.startswith(wanted)]
    well = 0
    for case in chosen:
        good, line = row(case, a)
        well += good
        print(line, flush=True)
    print(f"{well} of {len(chosen)} did well")
    return int(not chosen or well < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
