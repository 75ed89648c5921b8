"""Everything that a run needs to go on as if it had never stopped, in one safetensors file; and the model alone from it.

Tensors (the weights, Adam's averages, random states) are the file's tensors, everything else is JSON in its metadata. The
file is replaced at once: an interrupted write leaves the one before.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from model import CharGPT, Config

import tenfold
from tenfold import Tensor, optim
from tenfold.checkpoint.safetensors import load_file, load_metadata, save_file
from tenfold.data import DataLoader
from tenfold.text import Vocab

ENTRY = "tenfold-char-gpt-2"
TIED = "scores.weight"  # the same tensor as characters.weight, written once


@dataclass(frozen=True)
class Settings:
    """What decides a run's numbers."""

    steps: int = 1000
    batch_size: int = 24
    seed: int = 0


@dataclass
class Run:
    """A training under way: its parts, and a row (step, training loss, test loss) for each report so far."""

    settings: Settings
    vocabulary: Vocab
    model: CharGPT
    optimizer: optim.Optimizer
    scheduler: Any
    batches: DataLoader
    history: list[tuple[int, float, float]] = field(default_factory=list)


def save(path: Path, run: Run) -> None:
    """Write the run's state after a step."""
    optimizer, order = run.optimizer.state_dict(), run.batches.state_dict()
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items() if name != TIED}
    for index, averages in optimizer["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in averages.items()}
    tensors["random"], tensors["order"] = tenfold.get_rng_state(), order.pop("default_rng")
    about = {
        "settings": asdict(run.settings),
        "config": asdict(run.model.config),
        "characters": run.vocabulary.get_itos(),
        "param_groups": optimizer["param_groups"],
        "scheduler": run.scheduler.state_dict(),
        "order": order,
        "history": run.history,
    }
    save_file(tensors, path, metadata={ENTRY: json.dumps(about)})


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A checkpoint's tensors and its other state.

    Raises: FileNotFoundError; RuntimeError when the file is damaged or is not this program's.
    """
    metadata = load_metadata(path)
    if ENTRY not in metadata:
        raise RuntimeError(f"{path}: not a checkpoint of this program, its metadata has no {ENTRY}")
    return load_file(path), json.loads(metadata[ENTRY])


def restore(run: Run, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Put a run, made with the checkpoint's settings, where the checkpoint left off."""
    _load_weights(run.model, tensors)
    averages: dict[int, dict[str, Tensor]] = {}
    for name, value in _named(tensors, "optimizer").items():
        index, _, key = name.partition(".")
        averages.setdefault(int(index), {})[key] = value
    run.optimizer.load_state_dict({"state": averages, "param_groups": about["param_groups"]})
    run.scheduler.load_state_dict(about["scheduler"])
    run.batches.load_state_dict({**about["order"], "default_rng": tensors["order"]})
    run.history = [tuple(row) for row in about["history"]]
    tenfold.set_rng_state(tensors["random"])


def load(path: Path) -> tuple[CharGPT, Vocab]:
    """The model of a checkpoint and the characters that it knows. Raises: as `read`."""
    tensors, about = read(path)
    model = CharGPT(Config(**about["config"]))
    _load_weights(model, tensors)
    return model, Vocab(about["characters"])


def _load_weights(model: CharGPT, tensors: dict[str, Tensor]) -> None:
    weights = _named(tensors, "model")
    model.load_state_dict({**weights, TIED: weights["characters.weight"]})


def _named(tensors: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    """The tensors of one part, by their names within it."""
    prefix = part + "."
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
