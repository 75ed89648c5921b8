"""Checks and times the device "cuda" in one call: python benchmarks/gpu.py [--interpret] [--out FOLDER].

On a machine with an NVIDIA GPU every kernel is compared with the CPU, then timed on the device (events around many calls)
and on the host (calls without waiting), beside CuPy's and PyTorch's times for the same work where these are installed. The
table comes last; the figures go to gpu.json. With --interpret it runs in Triton's interpreter, on small arrays, to try the
script itself; those times mean nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--interpret", action="store_true", help="try the script without a GPU")
parser.add_argument("--out", type=Path, default=Path("."), help="where gpu.json is written")
OPTIONS = parser.parse_args()
if OPTIONS.interpret:
    os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton

import numpy as np  # noqa: E402

import tenfold  # noqa: E402
from tenfold import cuda  # noqa: E402

if OPTIONS.interpret:
    from tenfold.cuda import interpreter

    interpreter.use()
elif not cuda.is_available():
    print(f"not measured: device 'cuda' is not available: {cuda.unavailable_reason()} (--interpret tries the script without one)")
    raise SystemExit(0)  # the other benchmarks go on

SMALL = OPTIONS.interpret
N = 1 << (12 if SMALL else 26)  # elements of the elementwise cases
SIDE = 64 if SMALL else 4096  # of the matrices
CALLS = 2 if SMALL else 50

HEADS = (2, 2, 64, 16) if SMALL else (4, 16, 4096, 128)  # batch, heads, length, features
IMAGES = (2, 8, 8, 8) if SMALL else (64, 128, 56, 56)


def layers(x: Any) -> Any:
    """`nn.functional` of the library that a tensor is of."""
    return importlib.import_module(type(x).__module__.split(".")[0] + ".nn.functional")


def attention(q: Any, k: Any, v: Any) -> Any:
    return layers(q).scaled_dot_product_attention(q, k, v, is_causal=True)


# name: (the work, shapes of its operands, bytes moved per element of the first operand or 0, floating-point operations)
WORK: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], float, float]] = {
    "copy": (lambda x: x.clone(), ((N,),), 2, 0),  # what memory can do: the limit of all that is measured in TB/s
    "add": (lambda x, y: x + y, ((N,), (N,)), 3, 0),
    "add a number": (lambda x: x + 1.5, ((N,),), 2, 0),
    "add a row": (lambda x, y: x + y, ((N // 64, 64), (64,)), 2, 0),
    "add transposed": (lambda x, y: x + y.t(), ((SIDE, SIDE), (SIDE, SIDE)), 3, 0),
    "exp": (lambda x: x.exp(), ((N,),), 2, 0),
    "tanh": (lambda x: x.tanh(), ((N,),), 2, 0),
    "sigmoid": (lambda x: x.sigmoid(), ((N,),), 2, 0),
    "greater": (lambda x, y: x > y, ((N,), (N,)), 2.25, 0),
    "sum": (lambda x: x.sum(), ((N,),), 1, 0),
    "sum of rows": (lambda x: x.sum(1), ((N // 1024, 1024),), 1, 0),
    "softmax": (lambda x: x.softmax(1), ((N // 1024, 1024),), 2, 0),
    "layer norm": (lambda x: layers(x).layer_norm(x, (1024,)), ((N // 1024, 1024),), 2, 0),
    "rms norm": (lambda x: layers(x).rms_norm(x, (1024,), None, 1e-5), ((N // 1024, 1024),), 2, 0),
    "attention": (attention, (HEADS,) * 3, 0, 2.0 * HEADS[0] * HEADS[1] * HEADS[2] ** 2 * HEADS[3]),
    "convolution": (
        lambda x, w: layers(x).conv2d(x, w, padding=1),
        (IMAGES, (IMAGES[1], IMAGES[1], 3, 3)),
        0,
        18.0 * IMAGES[0] * IMAGES[1] ** 2 * IMAGES[2] * IMAGES[3],
    ),
    "batch norm": (lambda x: layers(x).batch_norm(x, None, None, training=True), (IMAGES,), 3, 0),
    "max pool": (lambda x: layers(x).max_pool2d(x, 2), (IMAGES,), 1.25, 0),
    "matmul": (lambda x, y: x @ y, ((SIDE, SIDE), (SIDE, SIDE)), 0, 2.0 * SIDE**3),
    "batched matmul": (lambda x, y: x @ y, ((16, SIDE // 4, SIDE // 4),) * 2, 0, 2.0 * 16 * (SIDE // 4) ** 3),
}
DTYPES = ("float32", "float16", "bfloat16")
TOLERANCES = {"float32": 2e-4, "float16": 2e-2, "bfloat16": 6e-2}


def optional(name: str) -> Any:
    """A module, or None where it is not installed or cannot be used."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


TORCH = None if SMALL else optional("torch")
if TORCH is not None and not TORCH.cuda.is_available():
    TORCH = None


def operands(shapes: tuple[tuple[int, ...], ...], dtype: str) -> list[Any]:
    rng = np.random.default_rng(0)
    return [tenfold.tensor(rng.random(shape, np.float32) - 0.5).to(getattr(tenfold, dtype)) for shape in shapes]


def check(work: Callable[..., Any], given: list[Any], dtype: str) -> float:
    """The largest error relative to the largest value; AssertionError when it is too large."""
    expected = work(*(x.float() for x in given)).double().numpy()
    got = work(*(x.cuda() for x in given)).cpu().double().numpy()
    error = float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30))
    assert error <= TOLERANCES[dtype], f"error {error:.2g}"
    return error


def times_us(call: Callable[[], Any], synchronize: Callable[[], Any]) -> tuple[float, float]:
    """(time on the device, time on the host) of one call in microseconds."""
    for _ in range(3):
        call()
    synchronize()
    device, host = [], []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        issued = time.perf_counter()
        synchronize()
        device.append((time.perf_counter() - begin) / CALLS * 1e6)
        host.append((issued - begin) / CALLS * 1e6)
    return median(device), median(host)


def peer_us(work: Callable[..., Any], given: list[Any], dtype: str) -> float | None:
    """PyTorch's time for the same work on the device."""
    if TORCH is None:
        return None
    moved = [TORCH.from_numpy(x.float().numpy()).to("cuda", getattr(TORCH, dtype)) for x in given]
    return times_us(lambda: work(*moved), TORCH.cuda.synchronize)[0]


def small_call_us() -> dict[str, float]:
    """Host time of operators on 16 elements: what a call costs before the GPU has anything to do."""
    x, y = tenfold.rand(16, device="cuda"), tenfold.rand(16, device="cuda")
    calls: dict[str, Callable[[], Any]] = {
        "x + y": lambda: x + y,
        "x * 2": lambda: x * 2,
        "x.exp()": x.exp,
        "x.sum()": x.sum,
    }
    found = {f"tenfold {name}": times_us(call, cuda.synchronize)[1] for name, call in calls.items()}
    if TORCH is not None:
        a, b = TORCH.rand(16, device="cuda"), TORCH.rand(16, device="cuda")
        found["torch x + y"] = times_us(lambda: a + b, TORCH.cuda.synchronize)[1]
    return found


def driver() -> str:
    """The driver's version, as the library of CUDA has it; "" in the interpreter."""
    return "" if SMALL else str(importlib.import_module("cupy").cuda.runtime.driverGetVersion())


def main() -> int:
    """Check, time, print; the exit status is the number of failed checks."""
    rows, failures = [], []
    for name, (work, shapes, traffic, operations) in WORK.items():
        for dtype in DTYPES:
            given = operands(shapes, dtype)
            try:
                error = check(work, given, dtype)
                moved = [x.cuda() for x in given]
                device, host = times_us(lambda: work(*moved), cuda.synchronize)  # noqa: B023 - called at once
                peer = peer_us(work, given, dtype)
            except Exception as failure:  # noqa: BLE001 - the other cases are to be tried too
                failures.append(f"{name} {dtype}: {type(failure).__name__}: {str(failure)[:300]}")
                continue
            size = np.prod(shapes[0]) * (4 if dtype == "float32" else 2)
            rate = operations / device / 1e6 if operations else traffic * float(size) / device / 1e6
            rows.append({"work": name, "dtype": dtype, "error": error, "device_us": device, "host_us": host, "torch_us": peer,
                         "rate": rate, "unit": "TFLOP/s" if operations else "TB/s"})  # fmt: skip
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "device": cuda.get_device_name(),
        "driver": driver(),
    }
    versions |= {m: getattr(optional(m), "__version__", None) for m in ("triton", "cupy", "torch")}
    result = {"versions": versions, "rows": rows, "small_calls_us": small_call_us(), "failures": failures}
    OPTIONS.out.mkdir(parents=True, exist_ok=True)
    (OPTIONS.out / "gpu.json").write_text(json.dumps(result, indent=1))
    print(json.dumps(versions))
    for name, value in result["small_calls_us"].items():
        print(f"{name:24} {value:8.2f} us of host time")
    print(f"{'work':16} {'dtype':9} {'error':>8} {'device us':>10} {'host us':>8} {'torch us':>9} {'rate':>8}         of limit")
    limits = {(r["dtype"], r["unit"]): r["rate"] for r in rows if r["work"] in ("copy", "matmul")}
    for r in rows:
        peer = "" if r["torch_us"] is None else f"{r['torch_us']:9.1f}"
        timed = f"{r['device_us']:10.1f} {r['host_us']:8.1f} {peer:>9} {r['rate']:8.2f} {r['unit']:7}"
        limit = limits.get((r["dtype"], r["unit"]))  # what a copy, or a large product, reached in the same run
        timed += "" if limit is None else f" {r['rate'] / limit:8.0%}"
        print(f"{r['work']:16} {r['dtype']:9} {r['error']:8.1e} {timed}")
    for failure in failures:
        print("FAILED", failure)
    return min(len(failures), 100)


if __name__ == "__main__":
    raise SystemExit(main())
