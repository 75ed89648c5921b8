"""Published models brought into a folder."""

from __future__ import annotations

import json
import os
import urllib.error
from collections.abc import Mapping
from pathlib import Path

from tenfold.data.download import alone_in, download_url, offline_folder
from tenfold.settings.environment import HOME
from tenfold.text.models.weights import INDEX, SINGLE

HUB = "https://huggingface.co"
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "tokenizer.model",
)


def download(
    name: str,
    revision: str = "main",
    root: str | os.PathLike[str] | None = None,
    hub: str = HUB,
    checksums: Mapping[str, str] | None = None,
) -> Path:
    """Bring a published model, such as ``"gpt2"`` or ``"google-t5/t5-small"``, and give the folder for `from_pretrained`.

    It has the configuration, the weights as safetensors, in parts where they are, and what there is of a tokenizer. The folder
    is ``root/models/NAME``, by default below ``TENFOLD_HOME``; files that are there are not fetched again. `checksums`
    (SHA-256 or MD5) by file name are verified.

    Raises: ValueError for a name that is no ``name`` or ``owner/name``; FileNotFoundError for a model without safetensors; what
        `download_url` raises.
    """
    parts = name.split("/")
    if len(parts) > 2 or any(part in ("", ".", "..") or "\\" in part for part in parts):
        raise ValueError(f"download: expected a name or owner/name, got {name!r}")
    folder = Path(HOME.read() if root is None else root).expanduser() / "models" / name
    address = f"{hub}/{name}/resolve/{revision}/"
    sums = dict(checksums or {})
    with alone_in(folder):
        download_url(address + "config.json", folder, md5=sums.get("config.json"))
        if not _optional(address, SINGLE, folder, sums):
            if not _optional(address, INDEX, folder, sums):
                raise FileNotFoundError(
                    f"download: {name} has neither {SINGLE} nor {INDEX} at {address}; take another revision, or convert its "
                    "weights to safetensors"
                )
            index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
            for file in dict.fromkeys(index["weight_map"].values()):
                download_url(address + file, folder, filename=Path(file).name, md5=sums.get(file))
        for file in TOKENIZERS:
            _optional(address, file, folder, sums)
    return folder


def _optional(address: str, file: str, folder: Path, sums: Mapping[str, str]) -> bool:
    """Whether there is such a file; it is fetched."""
    try:
        download_url(address + file, folder, md5=sums.get(file))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 404:
            raise
        return False
    except FileNotFoundError:
        if offline_folder() is None:
            raise
        return False
    return True
