"""Three networks trained in both libraries from the same weights on the same data: do the losses stay the same?

ResNet-18, a language model of two LSTM layers and a small GPT, 50 steps in float64. Prints the greatest relative difference of
the two libraries' losses, fails where it is above 1e-4, and draws the curves.

    python benchmarks/loss_curves.py [--steps 50] [--picture docs/guide/loss_curves.png]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from networks import network, step

import tenfold

NAMES = ("ResNet-18, 32x32", "LSTM language model", "GPT 4x192")
ALLOWED = 1e-4


def losses(lib: Any, name: str, steps: int) -> Any:
    """The loss of each step."""
    made = network(lib, name, "float64")
    return np.array([step(made, number).item() for number in range(steps)])


def draw(curves: dict[str, tuple[Any, Any]], path: Path) -> None:
    """Both curves of each network above, their relative difference below."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(curves), figsize=(11, 5), sharex=True, height_ratios=(3, 2), layout="constrained")
    for (name, (ours, theirs)), above, below in zip(curves.items(), *axes, strict=True):
        above.plot(theirs, color="#d95f02", linewidth=4, alpha=0.45, label="PyTorch")
        above.plot(ours, color="#1b4f72", linewidth=1.2, label="Tenfold")
        above.set_title(name)
        below.semilogy(np.maximum(abs(ours - theirs) / theirs, 1e-17), color="#1b4f72", linewidth=1)
        below.axhline(ALLOWED, color="#999999", linewidth=0.8, linestyle="--")
        below.set_ylim(1e-17, 1e-2)
        below.set_xlabel("step")
    axes[0][0].set_ylabel("loss")
    axes[0][0].legend(frameon=False)
    axes[1][0].set_ylabel("relative difference")
    figure.savefig(path, dpi=100)


def main() -> int:
    """Train, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    curves = {name: (losses(tenfold, name, given.steps), losses(torch, name, given.steps)) for name in NAMES}
    worst = 0.0
    for name, (ours, theirs) in curves.items():
        difference = float((abs(ours - theirs) / theirs).max())
        worst = max(worst, difference)
        print(f"{name:22s} loss {theirs[0]:.4f} -> {theirs[-1]:.4f}, greatest relative difference {difference:.1e}")
    if given.picture:
        draw(curves, given.picture)
    return int(not worst < ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
