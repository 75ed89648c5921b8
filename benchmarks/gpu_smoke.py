"""The first minute on a GPU: python benchmarks/gpu_smoke.py [--out FOLDER] [--resume].

One small call of everything that stands between a program and the hardware, the most basic first: memory, Triton's machine code,
the libraries, streams, graphs, a few training steps. Each is compared with the CPU; what fails is told with its traceback.
The exit status is 77 where there is no GPU, and no other program has anything to do then.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from progress import Progress

import tenfold
from tenfold import cuda, nn
from tenfold.nn import functional as F

NO_GPU = 77
ON = "cuda"
# Where CUDA's libraries come from, and what they need of the driver: what a machine is told by.
LIBRARIES = ("nvrtc", "cublas", "cusolver", "cusparse", "curand")
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", type=Path, default=Path("."), help="where gpu-smoke.json is written")
parser.add_argument("--resume", action="store_true", help="go on where a process ended")
parser.add_argument("--unchecked", action="store_true", help="compare no values: for rehearsals, which compute nothing")


def versions() -> dict[str, str]:
    """Of the machine and what is installed."""
    found = {"device": cuda.get_device_name(), "capability": "{}.{}".format(*cuda.get_device_capability())}
    found |= {"python": platform.python_version()}
    for name in ("numpy", "triton", "cupy", "torch"):
        try:
            found[name] = str(importlib.import_module(name).__version__)
        except Exception as failure:  # noqa: BLE001 - missing, or broken
            found[name] = f"none ({type(failure).__name__}: {failure})"
    given = importlib.import_module("cupy").cuda.runtime
    return found | {"driver": str(given.driverGetVersion()), "runtime": str(given.runtimeGetVersion())}


def libraries() -> None:
    """Load each of CUDA's libraries by itself, so that a missing one is known by its name."""
    missing = []
    for name in LIBRARIES:
        try:
            importlib.import_module(f"cupy_backends.cuda.libs.{name}")
        except Exception as failure:  # noqa: BLE001 - missing, or of another CUDA
            missing.append(f"{name}: {failure}")
    assert not missing, "; ".join(missing)
    from tenfold.cuda import cublaslt

    assert cublaslt.library() is not None, "cuBLASLt is missing: products go through cuBLAS"


def same(got: Any, expected: Any, tolerance: float = 1e-4) -> None:
    """Refuse results that are not the CPU's."""
    for a, b in zip(got, expected, strict=True) if isinstance(got, (tuple, list)) else [(got, expected)]:
        a, b = a.detach().cpu().double(), b.detach().double()
        error = float((a - b).abs().max() / b.abs().max().clamp(min=1e-30)) if b.numel() else 0.0
        assert a.shape == b.shape, f"{tuple(a.shape)} and {tuple(b.shape)}"
        assert UNCHECKED or error <= tolerance, f"error {error:.2g}"


def on_both(call: Callable[..., Any], *given: Any, tolerance: float = 1e-4) -> None:
    """Compare a call on the device with the CPU's."""
    same(call(*[x.to(ON) for x in given]), call(*given), tolerance)


def trained(call: Callable[..., Any], *given: Any, tolerance: float = 1e-3) -> None:
    """The same with gradients of all that is given."""

    def passes(*given: Any) -> list[Any]:
        leaves = [x.detach().requires_grad_() for x in given]
        out = call(*leaves)
        out.backward(tenfold.ones_like(out))
        return [out, *[x.grad for x in leaves]]

    on_both(passes, *given, tolerance=tolerance)


def round_trip() -> None:
    x = tenfold.arange(100_003.0)
    assert x.to(ON).cpu().equal(x)
    assert tenfold.zeros(1000, device=ON).cpu().equal(tenfold.zeros(1000)) or UNCHECKED


def streams() -> None:
    x, side, begin, end = tenfold.ones(1 << 22, device=ON), cuda.Stream(), cuda.Event(True), cuda.Event(True)
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        begin.record()
        y = x * 3
        end.record()
    cuda.current_stream().wait_stream(side)
    x.record_stream(side)
    same(y.sum(), tenfold.tensor(3.0 * (1 << 22)))
    assert begin.elapsed_time(end) > 0


def graphs() -> None:
    x, graph, side = tenfold.ones(1 << 20, device=ON), cuda.CUDAGraph(), cuda.Stream()
    work = lambda: (x.sum(), F.dropout(x, 0.5), x[:64] @ x[:64])  # noqa: E731
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        work()
    cuda.current_stream().wait_stream(side)
    with cuda.graph(graph):
        total, dropped, product = work()
    seen = []
    for k in (1.0, 2.0):
        x.fill_(k)
        graph.replay()
        same((total, product), (tenfold.tensor(k * (1 << 20)), tenfold.tensor(64 * k * k)))
        seen.append(dropped != 0)
    assert UNCHECKED or not seen[0].equal(seen[1]), "a replay draws the numbers of the one before"


def pinned() -> None:
    x = tenfold.arange(1 << 20).float().pin_memory()
    there, back = x.to(ON, non_blocking=True), tenfold.zeros(1 << 20).pin_memory()
    back.copy_(there, non_blocking=True)
    cuda.synchronize()
    assert back.equal(x)


def reports() -> None:
    x = tenfold.arange(10, device=ON)
    try:
        x[tenfold.tensor([12], device=ON)].tolist()
    except RuntimeError as error:
        assert "out of bounds" in str(error), error  # noqa: PT017 - no test, which would need pytest
    else:
        assert UNCHECKED, "an index out of bounds is not reported"
    same((x + 1).sum(), tenfold.tensor(55))


def out_of_memory() -> None:
    try:
        tenfold.empty(1 << 45, device=ON)
    except cuda.OutOfMemoryError:
        return
    raise AssertionError("more memory than there is was given")


def learns() -> None:
    tenfold.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10)).to(ON)
    optimizer = tenfold.optim.AdamW(model.parameters(), lr=1e-2)
    x, target = tenfold.randn(64, 32, device=ON), tenfold.randint(10, (64,), device=ON)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert UNCHECKED or losses[-1] < losses[0] / 2, losses


def triton_launch() -> None:
    import triton
    from triton import language as tl

    from tenfold.cuda import driver

    def double(out_ptr, x_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, i < n), i < n)

    double.__globals__["tl"] = tl
    driver.activate()
    x = tenfold.arange(1000.0, device=ON)
    out = tenfold.empty_like(x)
    triton.jit(double)[(4,)](out, x, 1000, BLOCK=256)
    same(out, tenfold.arange(1000.0) * 2)


def checks() -> dict[str, Callable[[], object]]:
    """All of it, by name, the most basic first."""
    tenfold.manual_seed(0)
    x, y, square = tenfold.randn(301, 517), tenfold.randn(301, 517), tenfold.randn(64, 64) + 8 * tenfold.eye(64)
    image, filters = tenfold.randn(2, 16, 20, 20), tenfold.randn(8, 16, 3, 3)
    heads = [tenfold.randn(2, 4, 96, 16) for _ in range(3)]  # which compile soon: without matrix units all is written out
    halves = [tenfold.randn(2, 4, 96, 64).bfloat16() for _ in range(3)]
    attend = partial(F.scaled_dot_product_attention, is_causal=True)
    return {
        "libraries": libraries, "memory": round_trip,
        "elementwise": lambda: on_both(lambda x, y: (x + y).exp() * 0.5, x, y),
        "strided": lambda: on_both(lambda x, y: x.t() + y[:, :1].t(), x[:, :301], y),
        "not aligned": lambda: on_both(lambda x: x.reshape(-1)[1:] * x.reshape(-1)[:-1], x),
        "sum of one": lambda: on_both(lambda x: x.sum(), tenfold.rand(1 << 22)),
        "sum of rows": lambda: on_both(lambda x: (x.sum(0), x.var(1), x.argmax(1)), x),
        "scan": lambda: on_both(lambda x: x.cumsum(1), x), "sort": lambda: on_both(lambda x: x.sort(1), x),
        "index": lambda: trained(lambda x: x[tenfold.arange(0, 301, 3, device=x.device)], x),
        "product": lambda: trained(lambda x, y: x @ y.t(), x, y, tolerance=5e-3),
        "product in bfloat16": lambda: on_both(lambda x, y: (x @ y.t()).float(), x.bfloat16(), y.bfloat16(), tolerance=2e-2),
        "batched product": lambda: on_both(lambda x: x @ x.mT, heads[0], tolerance=5e-3),
        "layer norm": lambda: trained(lambda x: F.layer_norm(x, (517,)), x),
        "softmax": lambda: trained(lambda x: x.softmax(1), x),
        "convolution": lambda: trained(lambda x, w: F.conv2d(x, w, padding=1), image, filters, tolerance=1e-2),
        "attention": lambda: trained(attend, *heads, tolerance=1e-2),
        "attention in bfloat16": lambda: trained(lambda *h: attend(*h).float(), *halves, tolerance=5e-2),
        "draws": lambda: same(tenfold.randn(1 << 22, device=ON).std(), tenfold.tensor(1.0), 1e-2),
        "streams": streams, "pinned memory": pinned, "graphs": graphs, "reports": reports, "used up memory": out_of_memory,
        "solve": lambda: on_both(lambda a: (tenfold.linalg.solve(a, a[:, :3]), tenfold.linalg.cholesky(a @ a.t())), square),
        "fft": lambda: on_both(lambda x: tenfold.fft.fft(x).abs(), x), "training": learns, "Triton's launch": triton_launch,
    }  # fmt: skip


def timed(name: str, check: Callable[[], object], rows: list[Any]) -> None:
    begin = time.perf_counter()
    check()
    cuda.synchronize()
    rows.append([name, round(time.perf_counter() - begin, 2)])
    print(f"{name:24} {rows[-1][1]:7.2f} s", flush=True)


def main(options: argparse.Namespace) -> int:
    """Check and tell; the exit status is the number of checks that failed."""
    if not cuda.is_available():
        print(f"device 'cuda' is not available: {cuda.unavailable_reason()}")
        return NO_GPU
    progress = Progress(options.out / "gpu-smoke.json", options.resume)
    progress.piece("versions", lambda: progress.found.update(versions=versions()))
    print(progress.found.get("versions"), flush=True)
    for name, check in checks().items():
        progress.piece(name, partial(timed, name, check, progress.found["rows"]))
    for failure in progress.found["failures"]:
        print("FAILED", failure, file=sys.stderr)
    return progress.end()


if __name__ == "__main__":
    OPTIONS = parser.parse_args()
    UNCHECKED: bool = OPTIONS.unchecked
    raise SystemExit(main(OPTIONS))
