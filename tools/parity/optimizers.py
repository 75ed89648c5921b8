"""PyTorch's table of optimizers, and its schedulers, on both libraries: 25 steps from the same weights, across a save and a load.

    python tools/parity/optimizers.py [--match RE] [-v]

Each configuration of `torch.testing._internal.common_optimizers.optim_db` is trained for 12 steps; its `state_dict` goes through
a file from each library into the other, and the other goes on for 13. Parameters and state are compared in float64.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_optimizers import optim_db

import tenfold
import tenfold.nn
import tenfold.optim
from tenfold.optim import lr_scheduler, swa_utils

sys.path.insert(0, str(Path(__file__).parent))
from crossing import compare, crossed, from_file, score, through_file

BEFORE, AFTER, TOLERANCE = 12, 13, 1e-5


class Training:
    """A small network, or for sparse gradients an embedding, and its optimizer."""

    def __init__(self, lib: Any, name: str, options: dict[str, Any]) -> None:
        # One batch for LBFGS: a search whose function changes takes each rounding further.
        self.lib, self.sparse, self.batches = lib, name == "SparseAdam", 1 if name == "LBFGS" else BEFORE + AFTER
        random = np.random.default_rng(0)
        shapes = [(6, 4)] if self.sparse else [(4, 8), (8, 3)] if name == "Muon" else [(4, 8), (8,), (8, 3), (3,)]
        self.params = [self.tensor(random.normal(size=shape)).requires_grad_() for shape in shapes]
        self.inputs, self.targets = self.tensor(random.normal(size=(25, 16, 4))), self.tensor(random.normal(size=(25, 16, 3)))
        self.rows = lib.from_numpy(random.integers(0, 6, size=(25, 5)))
        self.steps = 0
        self.make(name, options)

    def make(self, name: str, options: dict[str, Any]) -> None:
        """The optimizer; an option `params` among PyTorch's is its groups, which are made anew."""
        self.optimizer = getattr(self.lib.optim, name)(self.params, **options)

    def tensor(self, values: Any) -> Any:
        return self.lib.from_numpy(np.array(values, np.float64))

    def loss(self) -> Any:
        lib, step = self.lib, self.steps % self.batches
        if self.sparse:
            return (lib.nn.functional.embedding(self.rows[step], self.params[0], sparse=True) ** 2).sum()
        first, last = (self.params[0], self.params[-1]) if len(self.params) == 2 else (self.params[0], self.params[2])
        hidden = self.inputs[step] @ first
        hidden = lib.tanh(hidden + self.params[1] if len(self.params) == 4 else hidden)
        out = hidden @ last + self.params[3] if len(self.params) == 4 else hidden @ last
        return ((out - self.targets[step]) ** 2).mean()

    def run(self, steps: int, scheduler: Any = None) -> list[float]:
        """Losses of so many steps."""
        losses = []
        for _ in range(steps):

            def closure() -> Any:
                self.optimizer.zero_grad()
                loss = self.loss()
                loss.backward()
                return loss

            losses.append(float(self.optimizer.step(closure)))
            if scheduler is not None:
                scheduler.step(*([losses[-1]] if "Plateau" in type(scheduler).__name__ else []))
            self.steps += 1
        return losses

    def take_over(self, other: Training, state: Any) -> None:
        """Go on where `other` is, from its checkpoint."""
        with self.lib.no_grad():
            for mine, theirs in zip(self.params, other.params, strict=True):
                mine.copy_(self.tensor(theirs.detach().numpy()))
        self.optimizer.load_state_dict(state)
        self.steps = other.steps


def check(name: str, options: dict[str, Any]) -> None:
    """A configuration: one straight, one from PyTorch's file to Tenfold, one from Tenfold's to PyTorch."""
    if name == "LBFGS":  # by default 20 a step, whose curvatures are of differences in the last places soon
        options = {"max_iter": 4, **options}
    own = crossed(options)
    theirs, mine = Training(torch, name, options), Training(tenfold, name, own)
    compare("losses", mine.run(BEFORE), theirs.run(BEFORE), TOLERANCE)
    compare("state", mine.optimizer.state_dict(), theirs.optimizer.state_dict(), TOLERANCE)
    loaded, exported = Training(tenfold, name, own), Training(torch, name, options)
    loaded.take_over(theirs, from_file(theirs.optimizer.state_dict()))
    itself, others = through_file(mine.optimizer.state_dict())
    exported.take_over(mine, others)
    again = Training(tenfold, name, own)
    again.take_over(mine, itself)
    expected = theirs.run(AFTER)
    for what, training in (("straight", mine), ("from PyTorch", loaded), ("in PyTorch", exported), ("from Tenfold", again)):
        np.testing.assert_allclose(training.run(AFTER), expected, TOLERANCE, TOLERANCE, err_msg=f"losses, {what}")
        for i, (a, b) in enumerate(zip(training.params, theirs.params, strict=True)):
            message = f"parameter {i}, {what}"
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), TOLERANCE, TOLERANCE, err_msg=message)
    if name == "LBFGS":  # near the minimum its memory is of differences in the last places
        return
    compare("state after a load", loaded.optimizer.state_dict(), exported.optimizer.state_dict(), TOLERANCE)


SCHEDULERS: dict[str, Callable[[Any, Any], Any]] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda step: 0.95**step),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda step: 0.95),
    "StepLR": lambda s, o: s.StepLR(o, 4, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 9, 20], 0.3),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.2, 7),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.1, 0.9, 16),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 20, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 15, 0.001),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 5, 3, "triangular2"),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.3, 25),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1, cooldown=1, threshold=0.05),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 5), s.ExponentialLR(o, 0.9)], [6]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.LinearLR(o, 0.1, 1.0, 5), s.StepLR(o, 3, 0.8)]),
    "SWALR": lambda s, o: s.SWALR(o, 0.05, 8, "cos"),
}


def check_scheduler(name: str, make: Callable[[Any, Any], Any]) -> None:
    """25 steps of SGD with momentum: rates and losses, the scheduler's state through files in between."""
    options = {"lr": 0.1, "momentum": 0.9}
    homes = (swa_utils, torch.optim.swa_utils) if name == "SWALR" else (lr_scheduler, torch.optim.lr_scheduler)
    mine, theirs = Training(tenfold, "SGD", options), Training(torch, "SGD", options)
    own, other = make(homes[0], mine.optimizer), make(homes[1], theirs.optimizer)
    compare("losses", mine.run(BEFORE, own), theirs.run(BEFORE, other), TOLERANCE)
    loaded = Training(tenfold, "SGD", options)
    fresh = make(homes[0], loaded.optimizer)
    fresh.load_state_dict(from_file(other.state_dict()))
    loaded.take_over(theirs, from_file(theirs.optimizer.state_dict()))
    expected = theirs.run(AFTER, other)
    for what, training, scheduler in (("straight", mine, own), ("loaded", loaded, fresh)):
        compare(f"losses, {what}", training.run(AFTER, scheduler), expected, TOLERANCE)
        rates = [[group["lr"] for group in x.optimizer.param_groups] for x in (training, theirs)]
        compare(f"rates, {what}", rates[0], rates[1], TOLERANCE)


def rows(match: str = "") -> tuple[dict[str, Callable[[], None]], dict[str, Callable[[], None]]]:
    """A check for each configuration, and one for each scheduler, by name."""
    found: dict[str, Callable[[], None]] = {}
    for info in optim_db:
        name = info.optim_cls.__name__
        for i, given in enumerate(info.optim_inputs_func(device="cpu")):
            found[f"{name} {i} {given.desc}"] = lambda name=name, given=given: check(name, given.kwargs)
    schedulers: dict[str, Callable[[], None]] = {
        name: lambda name=name, make=make: check_scheduler(name, make) for name, make in SCHEDULERS.items()
    }
    return tuple({k: v for k, v in table.items() if re.search(match, k)} for table in (found, schedulers))  # type: ignore[return-value]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--match", default="", help="only configurations whose name this regular expression finds")
    arguments.add_argument("-v", action="store_true", help="whole messages")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    tables = rows(given.match)
    sys.exit(max(score(kind, table, given.v) for kind, table in zip(("optimizers", "schedulers"), tables, strict=True) if table))
