"""Compiled kernels and native call paths over many calls, and at first use: memory, random calls, seconds of compiling.

python benchmarks/endurance.py calls [--times 1000000] [--only softmax]   resident memory before and after, of each kind of call
python benchmarks/endurance.py fuzz [--times 100000] [--seed 0]           random arguments: no crash, the interpreter's answers
python benchmarks/endurance.py first                                      a network's first steps, in one process and the next
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tenfold
from tenfold.nn import functional

MOST_GROWTH = 1 << 20  # bytes of a million calls
FIRST_BAR, SECOND_BAR = 2.0, 0.05  # seconds of compiling in the first process, and of loading in the second


def resident() -> int:
    """Bytes of this process that lie in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def kinds() -> dict[str, Callable[[], Any]]:
    """A call of each kind that native code serves, or hands on."""
    x, y, m = tenfold.randn(8), tenfold.randn(8), tenfold.randn(4, 8)
    w, leaf = tenfold.randn(8, 8), tenfold.randn(8, requires_grad=True)
    target, z = tenfold.arange(4), tenfold.zeros(8)

    def augmented() -> None:
        t = z
        t -= y

    def refused() -> None:
        with contextlib.suppress(TypeError):
            tenfold.add(x, "a")

    def step() -> None:
        functional.cross_entropy(functional.linear(m, w * leaf, x), target).backward()
        leaf.grad = None

    return {
        "add": lambda: x + y, "number": lambda: x * 2.5, "relu": lambda: tenfold.relu(x), "recorded": lambda: leaf + x,
        "sum": lambda: tenfold.sum(x), "sum of columns": lambda: m.sum(0), "mean": lambda: m.mean(-1, keepdim=True),
        "softmax": lambda: functional.softmax(m, -1), "log_softmax": lambda: m.log_softmax(dim=-1),
        "layer_norm": lambda: functional.layer_norm(m, (8,), x, y), "linear": lambda: functional.linear(m, w, x),
        "matmul": lambda: m @ w, "transposed": lambda: m.t() @ m, "cat": lambda: tenfold.cat([x, y]),
        "broadcast": lambda: m + x, "refused": refused, "by name": lambda: tenfold.add(input=x, other=y),
        "other dtype": lambda: tenfold.add(target, target), "backward": step,
        "argmax": lambda: m.argmax(1), "max": lambda: m.max(1), "topk": lambda: m.topk(3), "std": lambda: m.std(1),
        "gather": lambda: m.gather(1, target[:, None]), "cross_entropy": lambda: functional.cross_entropy(m, target),
        "in place": lambda: x.add_(y).mul_(0.5), "augmented": augmented, "output": lambda: tenfold.add(x, y, out=z),
        "copied output": lambda: functional.softmax(m, -1).sum(0, out=z), "zero_": z.zero_, "copy_": lambda: z.copy_(y),
        "zeros": lambda: tenfold.zeros(3, 4), "full": lambda: tenfold.full((3,), 2.0), "ones_like": lambda: tenfold.ones_like(m),
        "long": m.long, "to": lambda: m.to(tenfold.float64), "einsum": lambda: tenfold.einsum("ij,kj->ik", m, w),
        "one_hot": lambda: functional.one_hot(target, 5), "cumsum": lambda: m.cumsum(1), "dropout": lambda: functional.dropout(m),
    }  # fmt: skip


def calls(times: int, only: str) -> list[dict[str, Any]]:
    rows = []
    for name, call in kinds().items():
        if only not in name:
            continue
        each = times // 20 if name == "backward" else times
        for _ in range(min(each, 20_000)):
            call()
        gc.collect()
        before, objects, start = resident(), len(gc.get_objects()), time.perf_counter()
        for _ in range(each):
            call()
        spent = time.perf_counter() - start
        gc.collect()
        grown, more = resident() - before, len(gc.get_objects()) - objects
        rows.append({"kind": name, "calls": each, "ns": spent / each * 1e9, "grown_bytes": grown, "objects": more})
        wrong = "  GROWN" if grown > MOST_GROWTH or more > 1000 else ""
        print(f"{name:16s} {each:9d} calls {spent / each * 1e9:9.0f} ns {grown:9d} bytes {more:5d} objects{wrong}", flush=True)
    return rows


def argument(rng: Any) -> Any:
    """A tensor, or something that no operator takes."""
    kind = rng.integers(0, 12)
    if kind > 9:
        return [None, "a", 3, 2.5, True, (1, 2), [], -(10**30), np.float32(2), object()][int(rng.integers(0, 10))]
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 8, 17, 40], rng.integers(0, 4)))
    dtype = [np.float32, np.float32, np.float32, np.float64, np.float16, np.int64, np.bool_][int(rng.integers(0, 7))]
    x = tenfold.from_numpy(np.asarray(rng.standard_normal(shape) * 3, dtype))
    if x.ndim > 1 and rng.random() < 0.3:
        x = x.transpose(0, -1)
    if x.ndim and rng.random() < 0.2:
        x = x[::2]
    return x.requires_grad_() if dtype in (np.float32, np.float64) and x._base is None and rng.random() < 0.3 else x


def values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function's first result where it has several."""

    @functools.wraps(function)
    def first(*given: Any, **named: Any) -> Any:
        found = function(*given, **named)
        return found[0] if isinstance(found, tuple) else found

    return first


def random_call(rng: Any) -> Callable[[], Any]:
    functions = [
        tenfold.add, tenfold.mul, tenfold.div, tenfold.maximum, tenfold.relu, tenfold.exp, tenfold.sigmoid, tenfold.sum,
        tenfold.mean, tenfold.amax, tenfold.softmax, tenfold.log_softmax, tenfold.matmul, tenfold.mm, functional.linear,
        functional.layer_norm, tenfold.cat, functional.gelu, tenfold.eq, tenfold.clamp_min, tenfold.argmax, tenfold.std,
        values(tenfold.max), values(tenfold.topk), tenfold.gather,
    ]  # fmt: skip
    function = functions[int(rng.integers(0, len(functions)))]
    given = [argument(rng) for _ in range(int(rng.integers(1, 4)))]
    along = (tenfold.sum, tenfold.mean, tenfold.amax, tenfold.softmax, tenfold.log_softmax, tenfold.argmax, tenfold.std)
    if function in along or function.__name__ in ("max", "topk"):
        given[1:] = [[None, 0, -1, 1, 5, (0, 1)][int(rng.integers(0, 6))]]
    elif function is tenfold.cat:
        given = [given if rng.random() < 0.8 else tuple(given), int(rng.integers(-2, 3))]
    elif function is tenfold.gather:
        size = getattr(given[0], "shape", (3,))
        given[1:] = [int(rng.integers(-2, 3)), tenfold.from_numpy(rng.integers(-1 if rng.random() < 0.1 else 0, 3, tuple(size)))]
    elif function is functional.layer_norm:
        width = tuple(getattr(given[0], "shape", (3,))[-1:])
        given[1:1] = [width if rng.random() < 0.8 else list(width)]
    named = {"dim": 0} if rng.random() < 0.05 else {}
    return lambda: function(*given, **named)


def answer(call: Callable[[], Any]) -> Any:
    try:
        found = call()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    if not isinstance(found, tenfold.Tensor):
        return found
    return found.detach().numpy(), found.dtype, type(found.grad_fn).__name__, found.stride()


def fuzz(times: int, seed: int) -> int:
    """Random calls by native paths and by the interpreter; returns how many answers differ."""
    from tenfold.llvm.session import session

    here = session()
    paths = here.paths if here else None
    rng, wrong = np.random.default_rng(seed), 0
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    for number in range(times):
        call = random_call(rng)
        got = answer(call)
        if paths is None or number % 10:
            continue
        with paths.suspended():
            expected = answer(call)
        same = len(got) == len(expected) if isinstance(got, tuple) and isinstance(expected, tuple) else got == expected
        if same and isinstance(got, tuple) and isinstance(got[0], np.ndarray):
            same = got[1:] == expected[1:] and np.array_equal(got[0], expected[0], equal_nan=got[0].dtype.kind == "f")
        elif same:
            same = got == expected
        if not same:
            wrong += 1
            print(f"call {number}: {got} by native code, {expected} by the interpreter")
    print(f"{times} random calls (seed {seed}), {times // 10} compared with the interpreter's: {wrong} differ")
    return wrong


_NETWORK = """
import time, json
import tenfold
from tenfold import nn
from tenfold.llvm import compiler
loading = compiler.load
spent = [0.0, 0]
def load(text, light=False):
    start = time.thread_time()
    try:
        return loading(text, light)
    finally:
        spent[0] += time.thread_time() - start
        spent[1] += 1
compiler.load = load
import tenfold.llvm.native.functions
tenfold.llvm.native.functions.load = load
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                      nn.Linear(392, 64), nn.GELU(),
                      nn.LayerNorm(64), nn.Dropout(0.1), nn.Linear(64, 10))
optimizer = tenfold.optim.AdamW(model.parameters())
start = time.thread_time()
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(tenfold.randn(8, 1, 14, 14)), tenfold.arange(8)).backward()
    optimizer.step()
print(json.dumps({"steps_seconds": time.thread_time() - start, "compiling_seconds": spent[0], "modules": spent[1]}))
"""


def first() -> list[dict[str, Any]]:
    """Seconds of compiling in a first process, and of loading in a second that finds its code: processor time."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for name, bar in (("first process", FIRST_BAR), ("second process", SECOND_BAR)):
            environment = {**os.environ, "TENFOLD_HOME": home}
            done = subprocess.run([sys.executable, "-c", _NETWORK], env=environment, capture_output=True, text=True, check=True)
            row = {"case": name, **json.loads(done.stdout.splitlines()[-1])}
            rows.append(row)
            seconds, modules = row["compiling_seconds"], row["modules"]
            print(f"{name}: {seconds:.3f} s for {modules} modules (bar {bar}), both steps {row['steps_seconds']:.3f} s")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["calls", "fuzz", "first"])
    parser.add_argument("--times", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds of calls whose name contains this")
    given = parser.parse_args()
    tenfold.set_num_threads(1)
    if given.what == "calls":
        rows = calls(given.times or 1_000_000, given.only)
        return int(any(row["grown_bytes"] > MOST_GROWTH or row["objects"] > 1000 for row in rows))
    if given.what == "fuzz":
        return int(fuzz(given.times or 100_000, given.seed) > 0)
    first()
    return 0


if __name__ == "__main__":
    sys.exit(main())
