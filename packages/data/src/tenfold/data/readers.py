"""Pipes that read files: lines of text, rows of CSV, members of tar archives."""

from __future__ import annotations

import csv
import os
import tarfile
from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.data.pipes import Pipe

Path = str | os.PathLike[str]


class LineReader(Pipe[str]):
    """The lines of text files, one file after the other, without line ends.

    Raises: FileNotFoundError while iterating when a file is missing.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("one\\ntwo\\n"); file.flush(); list(LineReader(file.name))
    ['one', 'two']
    """

    def __init__(self, paths: Path | Iterable[Path], encoding: str = "utf-8") -> None:
        self.paths = _repeatable(paths)
        self.encoding = encoding

    def __iter__(self) -> Iterator[str]:
        for path in self.paths:
            with open(path, encoding=self.encoding) as file:
                for line in file:
                    yield line.removesuffix("\n")


class CSVReader(Pipe[Any]):
    """The rows of CSV files: dicts keyed by each file's first row, or lists when `header` is False.

    Raises: FileNotFoundError while iterating when a file is missing; ValueError, naming file and line, for a row whose
    number of fields is not the header's.
    """

    def __init__(self, paths: Path | Iterable[Path], delimiter: str = ",", header: bool = True, encoding: str = "utf-8") -> None:
        self.paths = _repeatable(paths)
        self.delimiter = delimiter
        self.header = header
        self.encoding = encoding

    def __iter__(self) -> Iterator[Any]:
        for path in self.paths:
            with open(path, encoding=self.encoding, newline="") as file:
                yield from self._rows(file, path)

    def _rows(self, file: Iterable[str], path: Path) -> Iterator[Any]:
        rows = csv.reader(file, delimiter=self.delimiter)
        names = next(rows, []) if self.header else None
        for row in rows:
            if names is None:
                yield row
            elif len(row) == len(names):
                yield dict(zip(names, row, strict=True))
            elif row:
                raise ValueError(
                    f"CSVReader: {os.fspath(path)}, line {rows.line_num}: {len(row)} fields under a header of {len(names)}"
                )


class TarReader(Pipe[tuple[str, bytes]]):
    """The files inside tar archives, plain or compressed, as (name, content), in order; nothing is written to disk.

    Raises: FileNotFoundError while iterating when an archive is missing; tarfile.ReadError for a file that is none.
    """

    def __init__(self, paths: Path | Iterable[Path]) -> None:
        self.paths = _repeatable(paths)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for path in self.paths:
            with tarfile.open(path) as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is not None:
                        yield member.name, content.read()


def _repeatable(paths: Path | Iterable[Path]) -> Iterable[Path]:
    """Paths that can be gone through again. A pipe of paths stays one: its shards and shuffles are the worker's, not ours."""
    if isinstance(paths, (str, os.PathLike)):
        return [paths]
    return list(paths) if isinstance(paths, Iterator) else paths
