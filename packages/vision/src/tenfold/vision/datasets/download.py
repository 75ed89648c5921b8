"""Fetching files: streamed, resumed where a part is already there, verified, and put in place in one step.

Without a network, `set_offline_folder` (or the environment variable ``TENFOLD_OFFLINE_FOLDER``) names a folder whose
files are used in place of a download; nothing is then fetched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlparse

from tenfold.settings.environment import OFFLINE_FOLDER

CHUNK_BYTES = 1 << 18
ATTEMPTS = 3  # a dropped connection is resumed this often before the error is passed on
TIMEOUT_S = 60.0

Name = str | os.PathLike[str]
_offline_folder: Path | None = None


def set_offline_folder(folder: Name | None) -> None:
    """Take files from ``folder``, by their names, in place of every download; None allows downloads again."""
    global _offline_folder
    _offline_folder = None if folder is None else Path(folder).expanduser()


def offline_folder() -> Path | None:
    """The folder that stands in for the network, or None where files are really downloaded."""
    named = OFFLINE_FOLDER.read()
    return _offline_folder or (Path(named).expanduser() if named else None)


def calculate_md5(fpath: Name, chunk_size: int = 1 << 20) -> str:
    """The MD5 checksum of a file, in hexadecimal."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest()


def check_md5(fpath: Name, md5: str) -> bool:
    """Whether the file has this MD5 checksum."""
    return calculate_md5(fpath) == md5.lower()


def check_integrity(fpath: Name, md5: str | None = None) -> bool:
    """Whether the file is there and, where a checksum is given, has it."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(url: str, root: Name, filename: Name | None = None, md5: str | None = None, max_redirect_hops: int = 3) -> None:
    """Bring ``url`` to ``root/filename`` and verify it; a file that is already there and right is left alone.

    An interrupted download leaves ``filename.part`` and goes on from there when called again. The file appears under
    its own name only when it is whole and has the right checksum.

    Raises:
        FileNotFoundError: an offline folder is set and lacks the file.
        urllib.error.URLError: the server cannot be reached, refuses, or redirects more than ``max_redirect_hops`` times.
        RuntimeError: what arrived does not have the checksum, also after a fresh start.
    """
    name = os.fspath(filename) if filename is not None else unquote(os.path.basename(urlparse(url).path))
    target = Path(root).expanduser() / name
    if check_integrity(target, md5):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    folder = offline_folder()
    if folder is not None:
        _copy_offline(folder, target.name, part)
    else:
        resumed = part.exists()
        _fetch(url, part, max_redirect_hops)
        if resumed and not check_integrity(part, md5):  # the part may have been of another version of the file
            part.unlink()
            _fetch(url, part, max_redirect_hops)
    if not check_integrity(part, md5):
        found = calculate_md5(part)
        part.unlink()
        raise RuntimeError(
            f"download_url: {url} arrived with the MD5 checksum {found}, expected {md5}; the file was discarded, try again"
        )
    os.replace(part, target)


def _copy_offline(folder: Path, name: str, part: Path) -> None:
    source = folder / name
    if not source.is_file():
        raise FileNotFoundError(
            f"download_url: the offline folder {folder} has no file {name}; put it there, or unset the folder"
        )
    shutil.copyfile(source, part)


def _fetch(url: str, part: Path, max_redirect_hops: int) -> None:
    """Stream into ``part``, going on after its last byte; a connection that drops is taken up again."""
    opener = urllib.request.build_opener(_redirect_limit(max_redirect_hops))
    for _ in range(ATTEMPTS):
        try:
            if _stream(opener, url, part):
                return
        except (ConnectionError, TimeoutError):
            continue
    raise urllib.error.URLError(f"{url}: the connection dropped {ATTEMPTS} times; call again to go on from where it stopped")


def _stream(opener: urllib.request.OpenerDirector, url: str, part: Path) -> bool:
    """One request; whether the file is whole afterwards."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "tenfold-vision"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = opener.open(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416:  # nothing after the last byte: whole, or the part of a longer file
            raise
        return error.headers.get("Content-Range") == f"bytes */{have}" or _discard(part)
    with response:
        continues = response.status == 206
        expected = response.headers.get("Content-Length")
        with open(part, "ab" if continues else "wb") as file:
            start = file.tell()
            shutil.copyfileobj(response, file, CHUNK_BYTES)
            return expected is None or file.tell() - start == int(expected)


def _discard(part: Path) -> bool:
    part.unlink()
    return False


def _redirect_limit(hops: int) -> type[urllib.request.HTTPRedirectHandler]:
    return type("RedirectLimit", (urllib.request.HTTPRedirectHandler,), {"max_redirections": hops})
