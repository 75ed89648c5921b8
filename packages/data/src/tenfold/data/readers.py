"""Pipes that read files: lines of text, JSON lines, rows of CSV and parquet, members and samples of tar archives."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import json
import lzma
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from tenfold.data.pipes import Pipe
from tenfold.data.tar_member import Member

Path = str | os.PathLike[str]
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class LineReader(Pipe[str]):
    """The lines of text files, one file after the other, without line ends; ``.gz``, ``.bz2`` and ``.xz`` are unpacked.

    A byte order mark that begins a file of UTF-8 is no part of its text. What goes wrong in a file has its name as a note.

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
            with _text(path, self.encoding) as file:
                for line in file:
                    yield line.removesuffix("\n")


class CSVReader(Pipe[Any]):
    """The rows of CSV files: dicts keyed by each file's first row, or lists when `header` is False.

    Raises: FileNotFoundError while iterating when a file is missing; ValueError, naming file and line, for a row whose
    number of fields is not the header's, for a header with a name twice and for what is no CSV.
    """

    def __init__(self, paths: Path | Iterable[Path], delimiter: str = ",", header: bool = True, encoding: str = "utf-8") -> None:
        self.paths = _repeatable(paths)
        self.delimiter = delimiter
        self.header = header
        self.encoding = encoding

    def __iter__(self) -> Iterator[Any]:
        for path in self.paths:
            with _text(path, self.encoding, newline="") as file:
                yield from self._rows(file, path)

    def _rows(self, file: Iterable[str], path: Path) -> Iterator[Any]:
        rows = csv.reader(file, delimiter=self.delimiter)
        try:
            names = _names(rows, path) if self.header else None
            for row in rows:
                if names is None:
                    yield row
                elif len(row) == len(names):
                    yield dict(zip(names, row, strict=True))
                elif row:
                    raise ValueError(f"{_place(rows, path)}: {len(row)} fields under a header of {len(names)}")
        except csv.Error as error:  # a field beyond csv.field_size_limit(), mostly
            raise ValueError(f"{_place(rows, path)}: {error}; csv.field_size_limit(new_limit) lets longer fields pass") from None


def _names(rows: Any, path: Path) -> list[str]:
    """The header: the first row that is not empty."""
    names: list[str] = next(filter(None, rows), [])
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{_place(rows, path)}: the header has {twice} twice; read the file with header=False")
    return names


def _place(rows: Any, path: Path) -> str:
    return f"CSVReader: {os.fspath(path)}, line {rows.line_num}"


class JSONLinesReader(Pipe[Any]):
    """The values of JSON lines files, one a line; empty lines are passed over.

    Raises: FileNotFoundError while iterating when a file is missing; ValueError, naming file
    and line, for a line that is not JSON.
    """

    def __init__(self, paths: Path | Iterable[Path], encoding: str = "utf-8") -> None:
        self.paths = _repeatable(paths)
        self.encoding = encoding

    def __iter__(self) -> Iterator[Any]:
        for path in self.paths:
            with _text(path, self.encoding) as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield _value(line, path, number)


def _value(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"JSONLinesReader: {os.fspath(path)}, line {number}: {error}") from None


class ParquetReader(Pipe[dict[str, Any]]):
    """The rows of parquet files as dicts of Python values, `columns` of them if given; read in stretches of `batch_rows`.

    Raises: ImportError while iterating without pyarrow; FileNotFoundError when a file is missing; ValueError when it lacks
    one of the columns.
    """

    def __init__(self, paths: Path | Iterable[Path], columns: Iterable[str] | None = None, batch_rows: int = 4096) -> None:
        self.paths = _repeatable(paths)
        self.columns = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
        self.batch_rows = batch_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            from pyarrow import parquet  # an extra
        except ImportError:
            raise ImportError("ParquetReader needs pyarrow: pip install 'tenfold-data[parquet]'") from None
        for path in self.paths:
            with _noted(path), parquet.ParquetFile(path) as file:
                _check_columns(self.columns or (), file.schema_arrow.names, path)
                for rows in file.iter_batches(self.batch_rows, columns=self.columns):
                    yield from rows.to_pylist()


def _check_columns(wanted: Iterable[str], there: list[str], path: Path) -> None:
    # A name with dots may be that of a part of a column.
    missing = [name for name in wanted if name not in there and name.partition(".")[0] not in there]
    if missing:
        raise ValueError(f"ParquetReader: {os.fspath(path)} has no columns {missing}; it has {there}")


class TarReader(Pipe[tuple[str, bytes]]):
    """The files inside tar archives, plain or compressed, as (name, content), in order; nothing is written to disk.

    Raises: FileNotFoundError while iterating when an archive is missing; tarfile.ReadError for a file that is none, and
    where an archive is cut off or damaged; an archive that ends behind a member, without the usual zeros, is whole.
    """

    def __init__(self, paths: Path | Iterable[Path]) -> None:
        self.paths = _repeatable(paths)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for path in self.paths:
            with _noted(path), tarfile.open(path, tarinfo=Member) as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is not None:
                        yield member.name, content.read()


class TarSamples(Pipe[dict[str, Any]]):
    """The samples of tar archives in WebDataset's layout: members that differ in extension only are one sample.

    A sample is a dict of the contents by extension, with the common name under ``__key__``. `decoders` turn contents into
    values by extension, such as ``{"cls": int, "json": json.loads}``; the rest stays bytes.

    Raises: FileNotFoundError while iterating when an archive is missing; ValueError, naming archive and member, where a
    decoder fails or a member comes twice in a sample.
    """

    def __init__(self, paths: Path | Iterable[Path], decoders: dict[str, Callable[[bytes], Any]] | None = None) -> None:
        self.paths = _repeatable(paths)
        self.decoders = {} if decoders is None else dict(decoders)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for path in self.paths:
            sample: dict[str, Any] = {}
            for name, content in TarReader(path):
                folder, _, file = name.rpartition("/")
                stem, _, extension = file.partition(".")
                key = f"{folder}/{stem}" if folder else stem
                if sample and sample["__key__"] != key:
                    yield sample
                    sample = {}
                sample["__key__"] = key
                if extension in sample:
                    raise ValueError(f"TarSamples: {os.fspath(path)}: the member {name} comes twice in one sample")
                sample[extension] = self._decoded(extension, content, f"{os.fspath(path)}: {name}")
            if sample:
                yield sample

    def _decoded(self, extension: str, content: bytes, place: str) -> Any:
        decode = self.decoders.get(extension)
        if decode is None:
            return content
        try:
            return decode(content)
        except Exception as error:
            raise ValueError(f"TarSamples: {place} cannot be decoded: {type(error).__name__}: {error}") from error


@contextmanager
def _text(path: Path, encoding: str, newline: str | None = None) -> Iterator[IO[str]]:
    opener = _OPENERS.get(os.path.splitext(path)[1].lower(), open)
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"  # the same, less a byte order mark
    with _noted(path), opener(path, "rt", encoding=encoding, newline=newline) as file:
        yield file


@contextmanager
def _noted(path: Path) -> Iterator[None]:
    """Have what is raised tell which file was being read."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while reading {os.fspath(path)}")
        raise


def _repeatable(paths: Path | Iterable[Path]) -> Iterable[Path]:
    """Paths that can be gone through again. A pipe of paths stays one: its shards and shuffles are the worker's, not ours."""
    if isinstance(paths, (str, os.PathLike)):
        return [paths]
    return list(paths) if isinstance(paths, Iterator) else paths
