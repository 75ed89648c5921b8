"""Word vectors, kept in a form that is mapped into memory and not read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

import tenfold
from tenfold import Tensor, nn
from tenfold.data.archive import extract_archive
from tenfold.data.download import alone_in, download_url, name_in
from tenfold.settings.environment import HOME
from tenfold.text.vectors.reading import read_vectors

Name = str | os.PathLike[str]


class Vectors:
    """The vectors of a file: `vectors` (N, D) float32, `itos` the words, `stoi` their rows, `dim` D.

    `name` is a file, or the name that one has in the folder `cache` (``TENFOLD_HOME/vectors``), to which `url` brings it; an
    archive is unpacked. Beside the cache a copy is made on first use that later ones map into memory, until the file is
    another one. A word without vector has what `unk_init` makes of a tensor (D,), zeros by default.

    Raises: RuntimeError where the file is not there and no `url` is given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(folder + "/v.txt", "w") as file: _ = file.write("cat 1 2\\ndog 3 4\\n")
    ...     Vectors("v.txt", cache=folder)["dog"].tolist()
    [3.0, 4.0]
    """

    def __init__(
        self,
        name: Name,
        cache: Name | None = None,
        url: str | None = None,
        unk_init: Callable[[Tensor], Tensor] | None = None,
        max_vectors: int | None = None,
        checksum: str | None = None,
    ) -> None:
        folder = Path(HOME.read() if cache is None else cache).expanduser() / ("vectors" if cache is None else "")
        self.unk_init: Callable[[Tensor], Tensor] = tenfold.zeros_like if unk_init is None else unk_init
        with alone_in(folder):
            words, numbers = _kept(Path(name), folder, max_vectors)
            if not _is_of(words, Path(name), folder):
                _keep(_source(Path(name), folder, url, checksum), words, numbers, max_vectors)
        self.itos = words.read_bytes().decode("utf-8").split("\n")  # as bytes: other line breaks are letters of words
        self.stoi = {word: row for row, word in enumerate(self.itos)}
        self.vectors = tenfold.from_numpy(np.load(numbers, mmap_mode="c"))  # a write stays in this process
        self.dim = int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.itos)

    def __contains__(self, token: object) -> bool:
        return token in self.stoi

    def __getitem__(self, token: str) -> Tensor:
        row = self.stoi.get(token)
        return self.unk_init(tenfold.zeros(self.dim)) if row is None else self.vectors[row]

    def get_vecs_by_tokens(self, tokens: str | Sequence[str], lower_case_backup: bool = False) -> Tensor:
        """The vector of a word, or (len(tokens), D) of words; with `lower_case_backup` that of the lower-case word, too.

        A word that is there as it is written has its own vector.
        """
        listed = [tokens] if isinstance(tokens, str) else list(tokens)
        if lower_case_backup:
            listed = [token if token in self.stoi else token.lower() for token in listed]
        found = [self[token] for token in listed]
        if isinstance(tokens, str):
            return found[0]
        return tenfold.stack(found) if found else tenfold.zeros(0, self.dim)

    def embedding(self, tokens: Iterable[str], freeze: bool = True, padding_idx: int | None = None) -> nn.Embedding:
        """An `Embedding` with a row for each word, such as `vocabulary.get_itos()`; trained on unless `freeze`."""
        return nn.Embedding.from_pretrained(self.get_vecs_by_tokens(list(tokens)), freeze=freeze, padding_idx=padding_idx)


def _kept(name: Path, folder: Path, most: int | None) -> tuple[Path, Path]:
    """Where the copy is that is mapped into memory: the words, and the numbers."""
    stem = name.name + ("" if most is None else f".{most}")
    return folder / f"{stem}.words", folder / f"{stem}.npy"


def _is_of(words: Path, name: Path, folder: Path) -> bool:
    """Whether the copy is there and of the file; where that is gone it is taken to be."""
    if not words.is_file():
        return False
    source = _local(name, folder)
    return source is None or source.stat().st_mtime_ns == words.stat().st_mtime_ns


def _local(name: Path, folder: Path) -> Path | None:
    """The file, where it is here."""
    return next((place for place in (name, folder / name.name) if place.is_file()), None)


def _keep(source: Path, words: Path, numbers: Path, most: int | None) -> None:
    written_ns = source.stat().st_mtime_ns
    texts, vectors = read_vectors(source, most)
    if any("\n" in text for text in texts):
        raise ValueError(f"{source} has a word with a line break")
    with open(numbers.with_name(numbers.name + ".part"), "wb") as file:  # others may have the old numbers mapped
        np.save(file, vectors)
    os.replace(file.name, numbers)
    whole = words.with_name(words.name + ".part")  # the words come last and at once: they say that the numbers are there
    whole.write_text("\n".join(texts), encoding="utf-8", newline="")
    os.utime(whole, ns=(written_ns, written_ns))  # by which a later use sees whether it is of this file
    os.replace(whole, words)


def _source(name: Path, folder: Path, url: str | None, checksum: str | None) -> Path:
    """The file, from here or from elsewhere."""
    here = _local(name, folder)
    if here is not None:
        return here
    if url is None:
        raise RuntimeError(f"no vectors found at {folder / name.name}; put the file there, or give its url")
    download_url(url, folder, md5=checksum)
    packed = folder / name_in(url)
    if packed.suffix in (".zip", ".gz", ".tgz", ".tar") and packed.name != name.name:
        extract_archive(packed, folder)
    if not (folder / name.name).is_file():
        raise RuntimeError(f"{url} brought {packed.name}, in which there is no {name.name}")
    return folder / name.name
