"""Weights in a folder: one safetensors file, several with an index, or PyTorch's ``.bin``; read part by part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import tenfold
from tenfold import Tensor
from tenfold.checkpoint.safetensors import load_file, save_file
from tenfold.text.models.config import read_json

SINGLE, SHARD = "model.safetensors", "model-{:05}-of-{:05}.safetensors"
INDEX = SINGLE + ".index.json"
PICKLED = "pytorch_model.bin"
Folder = str | os.PathLike[str]


def weight_files(folder: Folder) -> list[Path]:
    """The files that hold a model's weights.

    Raises: FileNotFoundError where there are none, or where one that the index names is missing.
    """
    home = Path(folder)
    for single in (SINGLE, PICKLED):
        if (home / single).is_file():
            return [home / single]
        index = home / f"{single}.index.json"
        if index.is_file():
            names = dict.fromkeys(_index(index).values())
            missing = [name for name in names if not (home / name).is_file()]
            if missing:
                raise FileNotFoundError(f"{index} names {', '.join(missing)}, which {home} does not have; put them there")
            return [home / name for name in names]
    raise FileNotFoundError(f"{home} has no weights; put {SINGLE}, or {INDEX} with its parts, or {PICKLED} there")


def _index(path: Path) -> dict[str, str]:
    """Which file holds which tensor."""
    found = read_json(path).get("weight_map")
    if not isinstance(found, dict) or not all(isinstance(name, str) and Path(name).name == name for name in found.values()):
        raise ValueError(f"{path} has no weight_map from tensors to files of its folder")
    return found


def read_parts(folder: Folder) -> Iterator[dict[str, Tensor]]:
    """The tensors by name, file by file; those of all files can be held at once, for they lie there until they are used.

    A ``.bin`` file is read without running code from it; one in the format before PyTorch 1.6 is read whole.
    """
    for path in weight_files(folder):
        if path.suffix == ".safetensors":
            yield load_file(path, mmap=True)
        else:
            yield tenfold.load(path, map_location="cpu", weights_only=True, mmap=is_zipfile(path))


def write_weights(tensors: Mapping[str, Tensor], folder: Folder, max_shard_size: int) -> list[Path]:
    """Write tensors into one file, or where they have more than `max_shard_size` bytes into several with an index."""
    home = Path(folder)
    shards = _shards(tensors, max_shard_size)
    if len(shards) == 1:
        save_file(shards[0], home / SINGLE, {"format": "pt"})
        return [home / SINGLE]
    names = [SHARD.format(number, len(shards)) for number in range(1, len(shards) + 1)]
    for name, shard in zip(names, shards, strict=True):
        save_file(shard, home / name, {"format": "pt"})
    where = {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard}
    total = sum(_size(tensor) for tensor in tensors.values())
    index: dict[str, Any] = {"metadata": {"total_size": total}, "weight_map": where}
    (home / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    return [home / name for name in names]


def _shards(tensors: Mapping[str, Tensor], limit: int) -> list[dict[str, Tensor]]:
    shards: list[dict[str, Tensor]] = [{}]
    room = limit
    for name, tensor in tensors.items():
        if shards[-1] and _size(tensor) > room:
            shards.append({})
            room = limit
        shards[-1][name] = tensor
        room -= _size(tensor)
    return shards


def _size(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
