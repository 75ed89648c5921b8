"""A trained model in one safetensors file: the weights, and in the metadata the sizes and the characters it knows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from model import CharGPT, Config

from tenfold.checkpoint.safetensors import load_file, load_metadata, save_file
from tenfold.text import Vocab

ENTRY = "tenfold-char-gpt-1"
TIED = "scores.weight"  # the same tensor as characters.weight, written once


def save(path: Path, model: CharGPT, vocabulary: Vocab) -> None:
    """Write the model; an interrupted write leaves the file before it."""
    weights = {name: value for name, value in model.state_dict().items() if name != TIED}
    about = {"config": asdict(model.config), "characters": vocabulary.get_itos()}
    save_file(weights, path, metadata={ENTRY: json.dumps(about)})


def load(path: Path) -> tuple[CharGPT, Vocab]:
    """Read a model back.

    Raises: FileNotFoundError; RuntimeError when the file is damaged or is not this program's.
    """
    metadata = load_metadata(path)
    if ENTRY not in metadata:
        raise RuntimeError(f"{path}: not a checkpoint of this program, its metadata has no {ENTRY}")
    about = json.loads(metadata[ENTRY])
    model = CharGPT(Config(**about["config"]))
    weights = load_file(path)
    model.load_state_dict({**weights, TIED: weights["characters.weight"]})
    return model, Vocab(about["characters"])
