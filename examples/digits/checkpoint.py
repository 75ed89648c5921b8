"""Writing down everything that a run needs to go on as if it had never stopped, and reading it back.

Tensors (the weights, Adam's averages, the random generator's state) are the file's tensors, everything else is JSON in
its metadata. The file is replaced at once: an interrupted write leaves the one before.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tenfold
from tenfold import nn, optim
from tenfold.checkpoint.safetensors import load_file, load_metadata, save_file

ENTRY = "tenfold-digits-1"  # the metadata's one entry, whose name says what the file is


@dataclass(frozen=True)
class Settings:
    """What decides a run's numbers."""

    epochs: int = 30
    seed: int = 0
    batch_size: int = 64


@dataclass
class Run:
    """A training under way: its parts, the settings it was started with, and one row of figures for each past epoch."""

    settings: Settings
    model: nn.Module
    optimizer: optim.Optimizer
    scheduler: Any
    history: list[dict[str, float]] = field(default_factory=list)


def save(path: Path, run: Run) -> None:
    """Write the run's state after an epoch."""
    optimizer = run.optimizer.state_dict()
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    for index, averages in optimizer["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in averages.items()}
    tensors["random"] = tenfold.as_tensor(tenfold.get_rng_state())
    state = {
        "settings": asdict(run.settings),
        "param_groups": optimizer["param_groups"],
        "scheduler": run.scheduler.state_dict(),
        "history": run.history,
    }
    save_file(tensors, path, metadata={ENTRY: json.dumps(state)})


def read(path: Path) -> tuple[dict[str, tenfold.Tensor], dict[str, Any]]:
    """A checkpoint's tensors and its other state.

    Raises: FileNotFoundError; RuntimeError when the file is damaged or is not this program's.
    """
    metadata = load_metadata(path)
    if ENTRY not in metadata:
        raise RuntimeError(
            f"{path}: not a checkpoint of this program, its metadata has no {ENTRY}; give another folder with --out"
        )
    return load_file(path), json.loads(metadata[ENTRY])


def restore(run: Run, tensors: dict[str, tenfold.Tensor], state: dict[str, Any]) -> None:
    """Put a run, made with the checkpoint's settings, where the checkpoint left off."""
    run.model.load_state_dict(named(tensors, "model"))
    averages: dict[int, dict[str, tenfold.Tensor]] = {}
    for name, value in named(tensors, "optimizer").items():
        index, _, key = name.partition(".")
        averages.setdefault(int(index), {})[key] = value
    run.optimizer.load_state_dict({"state": averages, "param_groups": state["param_groups"]})
    run.scheduler.load_state_dict(state["scheduler"])
    run.history = state["history"]
    tenfold.set_rng_state(tensors["random"])


def named(tensors: dict[str, tenfold.Tensor], part: str) -> dict[str, tenfold.Tensor]:
    """The tensors of one part, by their names within it."""
    prefix = part + "."
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
