"""Big arrays on the CPU: operators that are little more than memory traffic, Tenfold against PyTorch in one process.

Figures are the thread's processor time, which a busy machine disturbs least, so both libraries run on one thread. Below 1
Tenfold is faster. TENFOLD_CPU_CACHE=0 shows what both cost where freed memory is not kept for the next array.

    python benchmarks/memory.py [--elements 2000000] [--turns 31]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import tenfold


def cases(lib: Any, n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Operators on n float32 elements."""
    rng = np.random.default_rng(0)
    data = rng.random(n, dtype=np.float32)
    a, b = lib.from_numpy(data.copy()), lib.from_numpy(data[::-1].copy())
    mask = lib.from_numpy(data > 0.5)
    blocks = lib.from_numpy(np.arange(n) % 4096 < 2048)
    yield "add", lambda: a + b
    yield "mul by a number", lambda: a * 2.5
    yield "relu", lambda: a.relu()  # noqa: PLW0108 - the look-up is part of it
    yield "clone", lambda: a.clone()  # noqa: PLW0108
    yield "cat", lambda: lib.cat([a, b])
    yield "stack, last dimension", lambda: lib.stack([a, b], -1)
    yield "masked_fill, random mask", lambda: a.masked_fill(mask, 0.0)
    yield "masked_fill, runs", lambda: a.masked_fill(blocks, 0.0)
    yield "where, random mask", lambda: lib.where(mask, a, b)
    yield "where, runs", lambda: lib.where(blocks, a, b)
    for rows in (1 << 10, 1414, 2000):
        columns = n // rows
        matrix = a[: rows * columns].view(rows, columns)
        yield f"copy of a transposed {rows} x {columns}", matrix.t().contiguous
    planes = a[: n // 4096 * 4096].view(-1, 64, 64)
    yield f"permute {tuple(planes.shape)} to (2, 0, 1)", lambda: planes.permute(2, 0, 1).contiguous()
    heads = a[: n // 16384 * 16384].view(-1, 128, 8, 16)
    yield "attention heads to the front", lambda: heads.transpose(1, 2).contiguous()
    images = a[: n // 3072 * 3072].view(-1, 3, 32, 32)
    yield "channels last", lambda: images.permute(0, 2, 3, 1).contiguous()

    def chain() -> Any:
        kept = [a]
        for _ in range(6):
            kept.append(kept[-1] + b)
        return kept

    yield "six additions, all kept", chain


def measured(run: Callable[[], Any]) -> float:
    """Seconds of processor time of one call, with the release of its result."""
    start = time.thread_time()
    result = run()
    del result
    return time.thread_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=2_000_000)
    parser.add_argument("--turns", type=int, default=31)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tenfold.set_num_threads(1)
    print(f"{'':44}{'Tenfold ms':>12}{'PyTorch ms':>12}{'ratio':>8}")
    for (name, ours), (_, theirs) in zip(cases(tenfold, args.elements), cases(torch, args.elements), strict=True):
        pairs = [(measured(ours), measured(theirs)) for _ in range(args.turns)][1:]
        mine, other = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
        print(f"{name:44}{mine:12.3f}{other:12.3f}{mine / other:8.2f}", flush=True)


if __name__ == "__main__":
    main()
