"""torchvision's path to downloading, unpacking and to lists of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tenfold.data.archive import download_and_extract_archive, extract_archive
from tenfold.data.download import calculate_md5, check_integrity, check_md5, download_url

__all__ = [
    "calculate_md5",
    "check_integrity",
    "check_md5",
    "download_and_extract_archive",
    "download_file_from_google_drive",
    "download_url",
    "extract_archive",
    "iterable_to_str",
    "list_dir",
    "list_files",
    "verify_str_arg",
]

Name = str | os.PathLike[str]


def list_dir(root: Name, prefix: bool = False) -> list[str]:
    """The folders in ``root``, sorted; with ``prefix`` their paths."""
    names = sorted(entry.name for entry in os.scandir(os.path.expanduser(root)) if entry.is_dir())
    return [os.path.join(root, name) for name in names] if prefix else names


def list_files(root: Name, suffix: str | tuple[str, ...], prefix: bool = False) -> list[str]:
    """The files in ``root`` whose names end with ``suffix``, or one of several, sorted; with ``prefix`` their paths."""
    found = sorted(
        entry.name for entry in os.scandir(os.path.expanduser(root)) if entry.is_file() and entry.name.endswith(suffix)
    )
    return [os.path.join(root, name) for name in found] if prefix else found


def iterable_to_str(iterable: Iterable[Any]) -> str:
    """The things in quotes with commas between.

    >>> iterable_to_str(["a", 1])
    "'a', '1'"
    """
    return ", ".join(f"'{each}'" for each in iterable)


def verify_str_arg(
    value: Any, arg: str | None = None, valid_values: Iterable[Any] | None = None, custom_msg: str | None = None
) -> Any:
    """The value, if it is text and one of the valid ones.

    >>> verify_str_arg("train", "split", ("train", "test"))
    'train'

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, str):
        where = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{where}, but got type {type(value)}.")
    known = None if valid_values is None else list(valid_values)
    if known is not None and value not in known:
        where = "" if arg is None else f" for argument {arg}"
        raise ValueError(custom_msg or f"Unknown value '{value}'{where}. Valid values are {{{iterable_to_str(known)}}}.")
    return value


def download_file_from_google_drive(file_id: str, root: Name, filename: Name | None = None, md5: str | None = None) -> None:
    """Fetch a file of Google Drive by its number, as `download_url` does.

    Raises:
        RuntimeError: what arrives does not have the checksum.
        urllib.error.URLError: the server cannot be reached, or refuses.
    """
    download_url(drive_url(file_id), root, file_id if filename is None else filename, md5)


def drive_url(file_id: str) -> str:
    """Where a file of Google Drive is fetched without a page that asks to confirm."""
    return f"https://drive.usercontent.google.com/download?id={file_id}&export=download&confirm=t"
