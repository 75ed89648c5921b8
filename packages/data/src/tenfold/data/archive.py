"""Unpacking downloaded archives: tar, zip, and single compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tenfold.data.download import download_url, name_in
from tenfold.data.tar_member import Member

Name = str | os.PathLike[str]
OPENERS: dict[str, Callable[[Path, str], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
SHORT_TAR = {".tgz", ".tbz", ".tbz2", ".txz"}


def extract_archive(from_path: Name, to_path: Name | None = None, remove_finished: bool = False) -> Path:
    """Unpack an archive into ``to_path`` (its own folder if None), or decompress a single file beside it.

    Raises:
        RuntimeError: the suffix is none of .tar(.gz .bz2 .xz), .tgz, .tbz, .tbz2, .txz, .zip, .gz, .bz2, .xz.
        tarfile.ReadError: a tar archive is damaged or cut off.
    """
    source = Path(from_path)
    folder = Path(to_path) if to_path is not None else source.parent
    suffixes = source.suffixes[-2:]
    last = suffixes[-1] if suffixes else ""
    if last == ".tar" or last in SHORT_TAR or (last in OPENERS and suffixes[0] == ".tar"):
        with tarfile.open(source, tarinfo=Member) as tar:
            tar.extractall(folder, filter=_into_a_folder)
    elif last == ".zip":
        with zipfile.ZipFile(source) as archive:
            for member in archive.infolist():
                _extract_zipped(archive, member, folder)
    elif last in OPENERS:
        folder = _decompress(source, folder)
    else:
        raise RuntimeError(
            f"extract_archive: cannot unpack {source.name}; known are .tar, .zip, and .gz, .bz2, .xz of a tar or of one file"
        )
    if remove_finished:
        source.unlink()
    return folder


def _into_a_folder(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Python's own "data" filter, which refuses members that would leave the folder; the folder of what passes is made.

    tarfile makes a folder if it saw none: of two processes that unpack into one folder, one would fail.
    """
    safe = tarfile.data_filter(member, folder)
    os.makedirs(os.path.dirname(os.path.join(folder, safe.name)), exist_ok=True)
    return safe


def _extract_zipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    """Unpack a member; zipfile looks for its folder, then for the member's own, and makes what it saw missing."""
    for attempt in (1, 2, 3):
        try:
            archive.extract(member, folder)
            return
        except FileExistsError:  # another process made it in between
            if attempt == 3:
                raise


def _decompress(source: Path, target: Path) -> Path:
    target = target / source.stem if target.is_dir() else target
    whole = target.with_name(f".{target.name}.{os.getpid()}.tmp")  # so that nobody takes half a file for the whole
    try:
        with OPENERS[source.suffix](source, "rb") as packed, open(whole, "wb") as file:
            shutil.copyfileobj(packed, file)
        os.replace(whole, target)
    finally:
        whole.unlink(missing_ok=True)
    return target


def download_and_extract_archive(
    url: str,
    download_root: Name,
    extract_root: Name | None = None,
    filename: Name | None = None,
    md5: str | None = None,
    remove_finished: bool = False,
) -> None:
    """`download_url`, then `extract_archive` into ``extract_root`` (``download_root`` if None)."""
    root = Path(download_root).expanduser()
    name = os.fspath(filename) if filename is not None else name_in(url)
    download_url(url, root, name, md5)
    extract_archive(root / name, extract_root if extract_root is not None else root, remove_finished)
