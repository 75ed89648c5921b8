"""Fetching the files of datasets and unpacking them, as torchtext's programs do."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zipfile
from pathlib import Path
from typing import IO

from tenfold.data.archive import extract_archive as unpack
from tenfold.data.download import check_integrity, download_url, name_in
from tenfold.data.tar_member import Member

Name = str | os.PathLike[str]


def validate_file(file_obj: IO[bytes], hash_value: str, hash_type: str = "sha256") -> bool:
    """Whether the rest of an open file has this checksum, of the kind "sha256" or "md5".

    >>> import io
    >>> validate_file(io.BytesIO(b"text"), "1cb251ec0d568de6a929b520c4aed8d1", "md5")
    True
    """
    digest = hashlib.new(_known(hash_type), usedforsecurity=False)
    while chunk := file_obj.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest() == hash_value.lower()


def download_from_url(
    url: str, path: Name | None = None, root: Name = ".data", overwrite: bool = False, hash_value: str | None = None,
    hash_type: str = "sha256",
) -> str:  # fmt: skip
    """Fetch a file, unless it is there already, and give its path: `path`, or the URL's name in the folder `root`.

    `overwrite` fetches it again. Raises RuntimeError where it has not the checksum, and ValueError for another kind of
    checksum than "sha256" and "md5".
    """
    _known(hash_type)
    target = Path(path) if path is not None else Path(root) / name_in(url)
    target = Path(os.path.abspath(target))
    if overwrite:
        target.unlink(missing_ok=True)
    elif target.exists() and not check_integrity(target, hash_value):
        raise RuntimeError(f"download_from_url: {target} has not the checksum {hash_value}; delete it, or pass overwrite=True")
    download_url(url, target.parent, target.name, hash_value)
    return str(target)


def extract_archive(from_path: Name, to_path: Name | None = None, overwrite: bool = False) -> list[str]:
    """Unpack an archive into a folder, its own if None, and give the paths of the files in it.

    What was unpacked before is left as it is unless `overwrite`. Raises NotImplementedError for what is no archive.
    """
    source = Path(from_path)
    folder = Path(to_path) if to_path is not None else source.parent
    try:
        files = [folder / name for name in _members(source)]
        if overwrite or not all(file.exists() for file in files):
            unpack(source, folder)
    except RuntimeError as error:
        raise NotImplementedError(str(error)) from error
    return [str(file) for file in files]


def _members(source: Path) -> list[str]:
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    if tarfile.is_tarfile(source):
        with tarfile.open(source, tarinfo=Member) as tar:
            return [member.name for member in tar if member.isfile()]
    return [source.stem]


def _known(hash_type: str) -> str:
    if hash_type not in ("sha256", "md5"):
        raise ValueError(f"got the kind of checksum {hash_type!r}; known are 'sha256' and 'md5'")
    return hash_type
