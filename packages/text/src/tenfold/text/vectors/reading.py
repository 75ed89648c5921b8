"""Files of word vectors: text as GloVe, fastText and word2vec write it, and word2vec's binary form."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_vectors(path: Path, most: int | None = None) -> tuple[list[str], Array]:
    """The words and their vectors, (N, D) float32; at most so many, the first of a word that is there twice.

    A file whose name ends in ``.bin`` (or ``.bin.gz``) is binary, any other one text.

    Raises: RuntimeError for a vector of another length than the first, naming file and line; ValueError for an empty file.
    """
    opener = _OPENERS.get(path.suffix, open)
    with opener(path, "rb") as file:
        rows = _binary(file, path) if ".bin" in path.suffixes[-2:] else _text(file, path)
        found: dict[str, Array] = {}
        for word, vector in rows:
            found.setdefault(word, vector)
            if len(found) == most:
                break
    if not found:
        raise ValueError(f"{path} has no vectors")
    return list(found), np.stack(list(found.values()))


def _text(file: IO[bytes], path: Path) -> Iterator[tuple[str, Array]]:
    """Words with their numbers, one in a line, with spaces or tabs between; a first line of two numbers is a header.

    A word may have spaces in it.
    """
    first = file.readline().removeprefix(codecs.BOM_UTF8).replace(b"\t", b" ")
    header = first.rstrip().split(b" ")
    count, size = (int(part) for part in header) if len(header) == 2 and all(part.isdigit() for part in header) else (None, None)
    start = 1 if size is None else 2
    size = _numbers(first.rstrip().split(b" ")) if size is None else size
    number = start - 1
    for number, line in enumerate(file if start == 2 else _again(first, file), start):
        if not line.strip():
            continue
        parts = line.replace(b"\t", b" ").rstrip().rsplit(b" ", size)
        if len(parts) - 1 != size or not size:
            raise RuntimeError(f"{path}, line {number}: {len(parts) - 1} numbers, the first vector has {size or 'none'}")
        try:
            vector = np.array(parts[1:], np.float32)
            word = parts[0].decode("utf-8")
        except UnicodeDecodeError:
            continue  # a damaged word is nobody's
        except ValueError as error:
            raise RuntimeError(f"{path}, line {number}: {error}; expected a word and {size} numbers") from None
        yield word, vector
    if count is not None and number - 1 < count:
        warnings.warn(f"{path}: its first line tells of {count} vectors, there are {number - 1}; is it whole?", stacklevel=2)


def _numbers(parts: list[bytes]) -> int:
    """How many numbers the first line ends with, after a word."""
    for place in range(len(parts) - 1, 0, -1):
        try:
            float(parts[place])
        except ValueError:
            return len(parts) - 1 - place
    return len(parts) - 1


def _again(first: bytes, file: IO[bytes]) -> Iterator[bytes]:
    yield first
    yield from file


def _binary(file: IO[bytes], path: Path) -> Iterator[tuple[str, Array]]:
    """word2vec's form: a header of two numbers, then each word, a space, and its float32 numbers."""
    header = file.readline().split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise RuntimeError(f"{path} is not word2vec's binary form: its first line is not two numbers")
    count, size = (int(part) for part in header)
    for number in range(count):
        word = _word(file)
        data = file.read(4 * size)
        if len(data) < 4 * size:
            raise RuntimeError(f"{path} ends in vector {number + 1} of {count}")
        yield word.decode("utf-8", errors="replace"), np.frombuffer(data, "<f4").astype(np.float32)


def _word(file: IO[bytes]) -> bytes:
    word = bytearray()
    while (letter := file.read(1)) not in (b" ", b""):
        if letter != b"\n":  # what stands between vectors in some files
            word += letter
    return bytes(word)
