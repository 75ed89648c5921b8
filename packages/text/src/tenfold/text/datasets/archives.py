"""Texts inside archives: read where they are, without unpacking to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tenfold.data.tar_member import Member

_SINGLE: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def members(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    """(name, text) of the files of a tar or zip archive whose names end so.

    Raises: FileNotFoundError where there is none.
    """
    found = False
    for name, text in _of_zip(path, ending) if path.suffix == ".zip" else _of_tar(path, ending):
        found = True
        yield name, text
    if not found:
        raise FileNotFoundError(f"{path} has no member {ending}; is it the published archive?")


def _of_zip(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(ending) and not name.startswith("__MACOSX"):
                yield name, archive.read(name).decode("utf-8")


def _of_tar(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(path, tarinfo=Member) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() and member.name.endswith(ending) else None
            if content is not None and not Path(member.name).name.startswith("._"):
                yield member.name, content.read().decode("utf-8")


@contextmanager
def opened(path: Path, member: str | None = None) -> Iterator[IO[str]]:
    """A file's text to be read line by line: a plain file, one that is compressed, or a member of an archive.

    Raises: FileNotFoundError where the archive has no such member.
    """
    if member is None:
        with _SINGLE[path.suffix](path, "rb") if path.suffix in _SINGLE else open(path, "rb") as file:
            yield io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(_member(archive.namelist(), member, path)) as file:
            yield io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    else:
        with tarfile.open(path, tarinfo=Member) as tar:
            content = tar.extractfile(_member(tar.getnames(), member, path))
            if content is None:
                raise FileNotFoundError(f"{path}: {member} is no file")
            with content:
                yield io.TextIOWrapper(content, encoding="utf-8", newline="\n")


def _member(names: list[str], ending: str, path: Path) -> str:
    found = [name for name in names if name.endswith(ending) and not Path(name).name.startswith("._")]
    if not found:
        raise FileNotFoundError(f"{path} has no member {ending}; is it the published archive?")
    return found[0]
