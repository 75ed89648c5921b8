"""Random valid calls of compiled kernels and of writes into existing tensors: the answers of NumPy's kernels, and PyTorch's.

Each call has a shape, a dtype, a layout (strided, transposed, backwards, expanded, overlapping, misaligned) and special values of
its own, and runs with 1, 2 or 3 threads. Another process without compiled kernels makes the same calls; PyTorch, where it is
installed, answers in this one. Positions and what is only moved have to be the same, sums may differ in their last digits.

python benchmarks/random_calls.py [--times 100000] [--seed 0] [--only topk]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
if "--reference" in sys.argv:  # before anything imports Tenfold
    os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import numpy as np
from random_kinds import KINDS, Array, Call

import tenfold

TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-12}
ROUNDED = ("std", "var", "cross_entropy", "cumsum", "softmax", "exp", "sigmoid", "tanh", "addcdiv", "lerp")


def drawn(seed: int, number: int, only: str) -> tuple[str, Call, int]:
    """The call of this number: its kind, the call, and how many threads run it."""
    rng = np.random.default_rng((seed, number))
    names = [name for name in KINDS if only in name]
    name = names[int(rng.integers(0, len(names)))]
    return name, KINDS[name](rng, name), int(rng.integers(1, 4))


def flat(found: Any) -> list[Any]:
    """Arrays and numbers of an answer."""
    if isinstance(found, tuple):
        return [part for each in found for part in flat(each)]
    return [found.detach().numpy().copy()] if hasattr(found, "detach") else [found]


def answer(lib: Any, call: Call) -> Any:
    """What the call gives, or the words of what it raises."""
    function, arrays = call
    given = [lib.from_numpy(_for(lib, array)) for array in arrays]
    try:
        return flat(function(lib, *given))
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def _for(lib: Any, array: Array) -> Array:
    """A copy for a library, with the same steps, and misaligned where the array is, which PyTorch's cannot be."""
    length = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)) + array.itemsize if array.size else 0
    start = array.ctypes.data % 8 if lib is tenfold else 0
    memory = bytearray(start) + ctypes.string_at(array.ctypes.data, length)
    return np.ndarray(array.shape, array.dtype, memory, start, array.strides) if length else array.copy()


def same(name: str, got: Any, expected: Any, loose: bool) -> bool:
    """Whether two answers agree; `loose`: PyTorch's, whose words are its own and which chooses among equals."""
    if isinstance(got, str) or isinstance(expected, str):
        return type(got) is type(expected) if loose else bool(got == expected)
    return len(got) == len(expected) and all(_agree(name, g, e, loose) for g, e in zip(got, expected, strict=True))


def _agree(name: str, got: Any, expected: Any, loose: bool) -> bool:
    if not isinstance(got, np.ndarray):
        return bool(got == expected)
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return False
    if got.dtype.kind != "f":
        return (loose and name in ("topk", "max", "min", "argmax", "argmin", "sort")) or bool(np.array_equal(got, expected))
    if name.startswith(ROUNDED) or (loose and got.dtype == np.float16) or (loose and name.startswith(ROUGH)):
        tolerance = TOLERANCE[got.dtype.name]
        with np.errstate(all="ignore"):
            scale = np.max(np.abs(got), initial=1.0, where=np.isfinite(got)) if name == "cumsum" else 1.0
        return bool(np.allclose(got, expected, rtol=tolerance * 4, atol=tolerance * scale, equal_nan=True))
    return bool(np.array_equal(got, expected, equal_nan=True))


ROUGH = ("scatter_add", "scaled", "addcmul")  # fused or ordered in PyTorch as its vectors fall


def reference(times: int, seed: int, only: str) -> None:
    """Answer all calls on standard output, for the process that compares."""
    for number in range(times):
        _, call, _ = drawn(seed, number, only)
        pickle.dump(answer(tenfold, call), sys.stdout.buffer)


def told(number: int, name: str, got: Any, who: str, expected: Any) -> None:
    """Print a call whose answers differ."""
    for label, found in (("got", got), (who, expected)):
        text = found if isinstance(found, str) else " | ".join(" ".join(str(part).split()) for part in found)
        print(f"call {number} {name}: {label} {text[:400]}")


def compare(times: int, seed: int, only: str) -> int:
    """Make the calls, print how many of each kind agree; returns how many do not."""
    try:
        import torch
    except ImportError:
        torch = None
    command = [sys.executable, __file__, "--reference", "--times", str(times), "--seed", str(seed), "--only", only]
    made, differ, theirs, raised = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        for number in range(times):
            name, call, threads = drawn(seed, number, only)
            expected = pickle.load(other.stdout)
            tenfold.set_num_threads(threads)
            got = answer(tenfold, call)
            made[name] += 1
            raised[name] += isinstance(got, str)
            if not same(name, got, expected, loose=False):
                differ[name] += 1
                told(number, name, got, "NumPy's kernels", expected)
            judged = got if torch is None else answer(torch, call)
            if not same(name, got, judged, loose=True):
                theirs[name] += 1
                told(number, name, got, "PyTorch", judged)
    print(f"{'kind':16s} {'calls':>8s} {'refused':>8s} {'not NumPy':>10s} {'not PyTorch':>12s}")
    for name, count in made.items():
        print(f"{name:16s} {count:8d} {raised[name]:8d} {differ[name]:10d} {theirs[name]:12d}")
    print(f"{times} calls (seed {seed}): {differ.total()} differ from NumPy's kernels, {theirs.total()} from PyTorch")
    return differ.total() + theirs.total()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds of calls whose name contains this")
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    if given.reference:
        reference(given.times, given.seed, given.only)
        return 0
    return int(compare(given.times, given.seed, given.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
