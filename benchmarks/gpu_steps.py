"""Whole training steps on a GPU: python benchmarks/gpu_steps.py [--compiled] [--only GPT] [--out FOLDER].

A GPT of 124 million parameters, a ResNet of 50 layers, channels last, and a small network, each eager and as a CUDA graph,
beside PyTorch's where it is installed. The limit is what the hardware needs at least: the step's products at the rate of a
large product of bfloat16, or its parameters at the speed of a copy, both measured first. The table comes last; the figures
go to gpu-steps.json as they come, and --resume goes on where a process ended (progress.py). --compiled times PyTorch's steps
through `torch.compile`, too. With --interpret the script tries itself on the smallest sizes, in Triton's interpreter.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--interpret", action="store_true", help="try the script without a GPU")
parser.add_argument("--compiled", action="store_true", help="time torch.compile, too, which takes minutes")
parser.add_argument("--unchecked", action="store_true", help="small batches, no look at the losses: for rehearsals")
parser.add_argument("--resume", action="store_true", help="go on where a process ended, by what its gpu-steps.json says")
parser.add_argument("--only", default="", help="a part of the names of the steps to be timed")
parser.add_argument("--out", type=Path, default=Path("."), help="where gpu-steps.json is written")
OPTIONS = parser.parse_args()
SMALL = OPTIONS.interpret
if SMALL:
    os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton

from progress import Progress  # noqa: E402

import tenfold  # noqa: E402
from tenfold import cuda  # noqa: E402

if SMALL:
    from tenfold.cuda import interpreter

    interpreter.use()
elif not cuda.is_available():
    print(f"not measured: device 'cuda' is not available: {cuda.unavailable_reason()} (--interpret tries the script without one)")
    raise SystemExit(0)  # the other benchmarks go on

PIECE_S = 240.0  # of one library's step: compiling all of a model's kernels is part of it
TURNS, STEPS, WARM = (1, 1, 1) if SMALL or OPTIONS.unchecked else (5, 10, 5)
LAYERS, WIDTH, HEADS, TOKENS, TEXTS, LENGTH = (1, 16, 2, 50, 2, 8) if SMALL else (12, 768, 12, 50304, 16, 1024)
IMAGES, SIDE, DEPTHS, FIRST = (2, 32, (1, 1, 1, 1), 4) if SMALL else (64, 224, (3, 4, 6, 3), 64)
if OPTIONS.unchecked:  # the same kernels, less memory
    TEXTS, IMAGES = min(TEXTS, 2), min(IMAGES, 4)


class Step(NamedTuple):
    """A step to be timed."""

    run: Callable[[], Any]  # eager; its loss
    size_bytes: int  # of its parameters
    operations: float  # floating-point operations of its products


def gpt(lib: Any) -> Step:
    """GPT-2's smallest, in bfloat16, with AdamW."""
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attend, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU("tanh"), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x: Any) -> Any:
            parts = self.attend(self.before(x)).view(*x.shape[:2], 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
            x = x + self.mix(seen.transpose(1, 2).reshape(x.shape))
            return x + self.feed(self.after(x))

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks, self.last = nn.Sequential(*[Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)

        def forward(self, tokens: Any, at: Any) -> Any:
            return functional.linear(self.last(self.blocks(self.words(tokens) + self.places(at))), self.words.weight)

    lib.manual_seed(0)
    model = Model().to("cuda").to(lib.bfloat16)
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-4, capturable=True, **({"fused": True} if lib is not tenfold else {}))
    tokens, at = lib.randint(TOKENS, (TEXTS, LENGTH + 1), device="cuda"), lib.arange(LENGTH, device="cuda")
    given, wanted = tokens[:, :-1].contiguous(), tokens[:, 1:].reshape(-1)

    def run() -> Any:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(given, at).view(-1, TOKENS), wanted)
        loss.backward()
        optimizer.step()
        return loss

    count = sum(p.numel() for p in model.parameters())
    scores = 2.0 * LAYERS * TEXTS * LENGTH**2 * WIDTH  # of half the pairs, two products
    return Step(run, size_of(model), 6.0 * count * TEXTS * LENGTH + 3 * scores)


def resnet(lib: Any) -> Step:
    """Bottlenecks of three convolutions, as ResNet-50 has them, in bfloat16, channels last, with SGD."""
    nn, multiplied = lib.nn, [0.0]

    def convolution(inputs: int, outputs: int, side: int, kernel: int, stride: int = 1) -> list[Any]:
        multiplied[0] += inputs * outputs * kernel**2 * float(side // stride) ** 2
        return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]

    class Bottleneck(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inputs: int, width: int, side: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *convolution(inputs, width, side, 1), nn.ReLU(), *convolution(width, width, side, 3, stride), nn.ReLU(),
                *convolution(width, 4 * width, side // stride, 1),
            )  # fmt: skip
            same = inputs == 4 * width
            self.past = nn.Identity() if same else nn.Sequential(*convolution(inputs, 4 * width, side, 1, stride))

        def forward(self, x: Any) -> Any:
            return nn.functional.relu(self.body(x) + self.past(x))

    lib.manual_seed(0)
    layers = [*convolution(3, FIRST, SIDE, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs, side = FIRST, SIDE // 4
    for level, depth in enumerate(DEPTHS):
        for number in range(depth):
            stride = 2 if level and not number else 1
            layers.append(Bottleneck(inputs, FIRST << level, side, stride))
            inputs, side = 4 * (FIRST << level), side // stride
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
    model = model.to("cuda").to(lib.bfloat16).to(memory_format=lib.channels_last)
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    x = lib.randn(IMAGES, 3, SIDE, SIDE, device="cuda", dtype=lib.bfloat16).contiguous(memory_format=lib.channels_last)
    return _classifying(lib, model, optimizer, x, 1000, 6.0 * IMAGES * multiplied[0])


def mlp(lib: Any) -> Step:
    """32-64-10 in float32 with AdamW: what a step costs before the GPU has anything to do."""
    nn = lib.nn
    lib.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).to("cuda")
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
    return _classifying(lib, model, optimizer, lib.randn(64, 32, device="cuda"), 10, 6.0 * 64 * (32 * 64 + 640))


def _classifying(lib: Any, model: Any, optimizer: Any, x: Any, classes: int, operations: float) -> Step:
    target = lib.randint(classes, (x.shape[0],), device="cuda")

    def run() -> Any:
        optimizer.zero_grad()
        loss = lib.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    return Step(run, size_of(model), operations)


def size_of(model: Any) -> int:
    """Bytes of a model's parameters."""
    return sum(p.numel() * p.element_size() for p in model.parameters())


STEPS_OF = {"MLP": mlp, "GPT": gpt, "ResNet": resnet}


def graphed(lib: Any, run: Callable[[], Any]) -> Callable[[], None]:
    """The step as a CUDA graph, after some on a side stream, as recording needs."""
    side = lib.cuda.Stream()
    side.wait_stream(lib.cuda.current_stream())
    with lib.cuda.stream(side):
        for _ in range(3):
            run()
    lib.cuda.current_stream().wait_stream(side)
    graph = lib.cuda.CUDAGraph()
    with lib.cuda.graph(graph):
        run()
    replay: Callable[[], None] = graph.replay
    return replay


def milliseconds(lib: Any, run: Callable[[], Any], steps: int = STEPS) -> float:
    """The median time of one call."""
    for _ in range(WARM):
        run()
    lib.cuda.synchronize()
    found = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        for _ in range(steps):
            run()
        lib.cuda.synchronize()
        found.append((time.perf_counter() - begin) / steps * 1e3)
    return median(found)


def hardware() -> tuple[float, float]:
    """(bytes a millisecond of a copy, floating-point operations a millisecond of a large product in bfloat16)."""
    n, side = (1 << 12, 32) if SMALL else (1 << 22, 256) if OPTIONS.unchecked else (1 << 28, 8192)
    x, y = tenfold.ones(n, device="cuda"), tenfold.ones(side, side, device="cuda", dtype=tenfold.bfloat16)
    return 8.0 * n / milliseconds(tenfold, x.clone), 2.0 * side**3 / milliseconds(tenfold, lambda: y @ y)


def peer() -> Any:
    """PyTorch, where it is installed and sees the GPU."""
    if not SMALL:
        with contextlib.suppress(ImportError, OSError):
            torch = importlib.import_module("torch")
            return torch if torch.cuda.is_available() else None
    return None


def timed(name: str, lib: Any, found: dict[str, float], keep: Callable[[], None]) -> None:
    """Times of a step of one library, eager and graphed, in milliseconds, each kept as it is known."""
    step = STEPS_OF[name](lib)
    found |= {"size_bytes": step.size_bytes, "operations": step.operations}
    found["eager"] = milliseconds(lib, step.run)
    keep()
    loss = float(step.run())
    assert loss == loss or OPTIONS.unchecked, "the loss is not a number"
    if not SMALL and not OPTIONS.unchecked:
        found["graphed"] = milliseconds(lib, graphed(lib, step.run))
        keep()
    if OPTIONS.compiled and lib is not tenfold:
        found["compiled"] = milliseconds(lib, lib.compile(step.run))


def limited(row: dict[str, Any], copied: float, multiplied: float) -> None:
    """Say in a step's row what the hardware needs for it."""
    ours = row["ours"]
    if ours:
        passes = 7.0 * ours["size_bytes"] / copied  # Adam reads four arrays and writes three
        row["limit_ms"] = max(ours["operations"] / multiplied, passes)


def row_of(rows: list[Any], name: str) -> Any:
    """The row of a step, a new one where there is none yet."""
    found = next((row for row in rows if row["step"] == name), None)
    if found is None:
        found = {"step": name, "ours": {}, "torch": {}, "limit_ms": None}
        rows.append(found)
    return found


def measure(progress: Progress) -> None:
    """Time the steps that are asked for, ours before PyTorch's: one that fails loses nothing but itself."""
    torch, result = peer(), progress.found
    for name in STEPS_OF:
        if OPTIONS.only in name:
            row = row_of(result["rows"], name)
            progress.piece(f"{name} tenfold", partial(timed, name, tenfold, row["ours"], progress.keep))
            limited(row, *result.get("hardware", (float("inf"), float("inf"))))
            cuda.empty_cache()
            if torch is not None:
                progress.piece(f"{name} torch", partial(timed, name, torch, row["torch"], progress.keep))


def main() -> int:
    """Time, print; the exit status is the number of pieces that failed."""
    progress = Progress(OPTIONS.out / "gpu-steps.json", OPTIONS.resume, PIECE_S)
    result = progress.found
    result |= {"device": cuda.get_device_name(), "driver": driver()}
    progress.piece("hardware", lambda: result.update(hardware=hardware()))
    measure(progress)
    status = progress.end()
    print(json.dumps({k: v for k, v in result.items() if k in ("device", "driver", "hardware")}))
    print(
        f"{'step':8} {'limit ms':>9} {'eager':>9} {'graphed':>9} {'torch':>9} {'graphed':>9} {'eager/torch':>12} {'of limit':>9}"
    )
    for row in result["rows"]:
        print(line(row))
    for text in result["failures"]:
        print("FAILED", text)
    return status


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    ours, theirs, limit = row["ours"], row["torch"], row["limit_ms"]
    columns = [ours.get("eager"), ours.get("graphed"), theirs.get("eager"), theirs.get("graphed")]
    numbers = " ".join(f"{'' if x is None else f'{x:.3f}':>9}" for x in (limit, *columns))
    ratio = f"{columns[0] / columns[2]:.2f}" if columns[0] and columns[2] else ""
    best = min((x for x in columns[:2] if x is not None), default=None)
    return f"{row['step']:8} {numbers} {ratio:>12} {'' if best is None or limit is None else f'{limit / best:.0%}':>9}"


def driver() -> str:
    """The driver's version, as the library of CUDA has it; "" in the interpreter."""
    return "" if SMALL else str(importlib.import_module("cupy").cuda.runtime.driverGetVersion())


if __name__ == "__main__":
    raise SystemExit(main())
