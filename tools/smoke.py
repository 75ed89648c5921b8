"""Import the installed packages and compute something small with each that is named: python smoke.py tenfold tenfold.nn ...

Runs on installed wheels, outside the repository: it fails where a module comes from anywhere but the environment.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def import_all(names: list[str]) -> None:
    """Import every name and see that it lies in this environment."""
    for name in names:
        module = importlib.import_module(name)
        place = Path(module.__file__ or "").resolve()
        if Path(sys.prefix).resolve() not in place.parents:
            raise SystemExit(f"{name} was imported from {place}, not from the environment {sys.prefix}")
        print(f"imported {name}")


def compute(names: list[str]) -> None:
    """One sum; with autograd a gradient, with nn and optim a step that lowers a loss."""
    tenfold = importlib.import_module("tenfold")
    if tenfold.tensor([1.0, 2.0, 4.0]).sum().item() != 7.0:
        raise SystemExit("the sum of 1, 2 and 4 is not 7")
    if "tenfold.autograd" in names:
        x = tenfold.tensor([3.0], requires_grad=True)
        (x * x).sum().backward()
        if x.grad.item() != 6.0:
            raise SystemExit(f"the derivative of x*x at 3 came out as {x.grad.item()}, not 6")
    if {"tenfold.nn", "tenfold.optim"} <= set(names):
        step(tenfold)


def step(tenfold: object) -> None:
    """A linear layer's loss falls over ten steps of SGD."""
    nn, optim = importlib.import_module("tenfold.nn"), importlib.import_module("tenfold.optim")
    tenfold.manual_seed(0)  # type: ignore[attr-defined]
    x = tenfold.randn(16, 3)  # type: ignore[attr-defined]
    layer = nn.Linear(3, 1)
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(layer(x), x.sum(1, keepdim=True))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if not losses[-1] < losses[0]:
        raise SystemExit(f"ten steps of SGD did not lower the loss: {losses}")


if __name__ == "__main__":
    import_all(sys.argv[1:])
    compute(sys.argv[1:])
    print("smoke: ok")
