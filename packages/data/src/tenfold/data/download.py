"""Fetching files: streamed, resumed where a part of the same file is already there, verified, and put in place in one step.

Without a network, `set_offline_folder` (or the environment variable ``TENFOLD_OFFLINE_FOLDER``) names a folder whose
files are used in place of a download; nothing is then fetched.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import quote, unquote, urlparse

from tenfold.data.progress import Bar
from tenfold.settings.environment import OFFLINE_FOLDER

if sys.platform != "win32":
    import fcntl

CHUNK_BYTES = 1 << 18
ATTEMPTS = 3  # that bring nothing new, one after the other, before the error of a dropped connection or busy server is passed on
PAUSE_S = 0.25  # before the second attempt; twice as long before each further one
TIMEOUT_S = 60.0
SHA256_DIGITS = 64
_BUSY = {408, 425, 429, 500, 502, 503, 504}  # statuses that say: try later
_DROPPED = (ConnectionError, TimeoutError, http.client.HTTPException)

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
    return _digest(fpath, "md5", chunk_size)


def _digest(fpath: Name, kind: str, chunk_size: int = 1 << 20) -> str:
    digest = hashlib.new(kind, usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest()


def check_md5(fpath: Name, md5: str) -> bool:
    """Whether the file has this MD5 checksum; one of 64 digits is a SHA-256 checksum."""
    return _digest(fpath, _kind(md5)) == md5.lower()


def _kind(checksum: str) -> str:
    """Which checksum has so many digits."""
    return "sha256" if len(checksum) == SHA256_DIGITS else "md5"


def check_integrity(fpath: Name, md5: str | None = None) -> bool:
    """Whether the file is there and, where a checksum is given, has it."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def name_in(url: str) -> str:
    """The file's name in a URL: its last part once decoded, so that no encoded slash leads to another folder.

    Raises:
        ValueError: the URL names no file.
    """
    name = PurePosixPath(unquote(urlparse(url).path).replace("\\", "/")).name
    if name in ("", ".", "..") or "\0" in name:
        raise ValueError(f"download_url: {url} names no file; give a filename")
    return name


def download_url(url: str, root: Name, filename: Name | None = None, md5: str | None = None, max_redirect_hops: int = 3) -> None:
    """Bring ``url`` to ``root/filename`` and verify it; a file that is already there and right is left alone.

    An interrupted download leaves ``filename.part`` and goes on from there when called again, if the server still has the
    same file. The file appears under its own name only when it is whole and has the right checksum. Several processes may
    ask for the same file at once: one fetches it, the others wait.

    Raises:
        FileNotFoundError: an offline folder is set and lacks the file.
        urllib.error.URLError: the server cannot be reached, refuses, or redirects more than ``max_redirect_hops`` times.
        RuntimeError: what arrived does not have the checksum, also after a fresh start.
    """
    target = Path(root).expanduser() / (os.fspath(filename) if filename is not None else name_in(url))
    if check_integrity(target, md5):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with _part_of(target) as part:
        if not check_integrity(target, md5):  # else another process fetched it meanwhile
            _bring(url, target.name, part, md5, max_redirect_hops)
            os.replace(part.path, target)
            part.forget_source()


def download_from(urls: Iterable[str], root: Name, filename: Name, md5: str | None = None, max_redirect_hops: int = 3) -> None:
    """`download_url` from the first of several places that gives the right file.

    Raises:
        RuntimeError: none does; the message tells of each.
    """
    errors = []
    for url in urls:
        try:
            return download_url(url, root, filename, md5, max_redirect_hops)
        except FileNotFoundError:
            raise
        except (urllib.error.URLError, RuntimeError) as error:
            errors.append(f"{url}: {error}")
    raise RuntimeError(f"could not download {os.fspath(filename)} from any mirror:\n" + "\n".join(errors))


@contextlib.contextmanager
def alone_in(folder: Name) -> Iterator[None]:
    """Wait until no other process is in this block for the folder, which is made if it is not there.

    Within it a dataset is fetched and unpacked by one process; the others find it afterwards.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# The part


class _Part:
    """What has arrived of a file, and of which URL and version it is."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.source_path = path.with_name(path.name + ".source")

    @property
    def target(self) -> Path:
        """Where the file will be."""
        return self.path.with_name(self.path.name.removesuffix(".part"))

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def start_over(self) -> None:
        """Throw away what has arrived."""
        self.file.seek(0)
        self.file.truncate()

    def validator(self, url: str) -> str | None:
        """The version (ETag or date) of what has arrived, if it is from this URL."""
        try:
            source, _, version = self.source_path.read_text().partition("\n")
        except (OSError, UnicodeDecodeError):
            return None
        return version if source == url and version else None

    def note_source(self, url: str, response: http.client.HTTPResponse) -> None:
        """Remember the version that begins to arrive; a weak ETag does not identify bytes."""
        tag = response.headers.get("ETag") or ""
        version = response.headers.get("Last-Modified") if not tag or tag.startswith("W/") else tag
        self.source_path.write_text(f"{url}\n{version or ''}")

    def forget_source(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.source_path.unlink()


@contextlib.contextmanager
def _part_of(target: Path) -> Iterator[_Part]:
    """The file ``target.part``, which is also the lock: whoever holds it fetches."""
    path = target.with_name(target.name + ".part")
    while True:
        file = open(path, "ab")  # noqa: SIM115 - closed below
        with contextlib.closing(file):
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_at(file, path):  # another process has meanwhile put it in place
                continue
            part = _Part(path, file)
            try:
                yield part
            finally:
                if _is_at(file, path) and not part.size:
                    path.unlink()
                    part.forget_source()
            return


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


# The transfer


def _bring(url: str, name: str, part: _Part, md5: str | None, max_redirect_hops: int) -> None:
    """Fill the part with the right file."""
    folder = offline_folder()
    if folder is not None:
        _copy_offline(folder, name, part)
    else:
        resumed = part.size > 0
        _fetch(url, part, md5, max_redirect_hops)
        if resumed and not check_integrity(part.path, md5):  # the part may have been of another version of the file
            part.start_over()
            _fetch(url, part, md5, max_redirect_hops)
    if not check_integrity(part.path, md5):
        found, kind = _digest(part.path, _kind(md5 or "")), {"md5": "MD5", "sha256": "SHA-256"}[_kind(md5 or "")]
        part.start_over()
        raise RuntimeError(
            f"download_url: {url} arrived with the {kind} checksum {found}, expected {md5}; the file was discarded, try again"
        )


def _copy_offline(folder: Path, name: str, part: _Part) -> None:
    source = folder / name
    if not source.is_file():
        raise FileNotFoundError(
            f"download_url: the offline folder {folder} has no file {name}; put it there, or unset the folder"
        )
    part.start_over()
    with open(source, "rb") as file:
        shutil.copyfileobj(file, part.file)
    part.file.flush()


def _fetch(url: str, part: _Part, md5: str | None, max_redirect_hops: int) -> None:
    """Stream into the part, going on after its last byte; a connection that drops is taken up again."""
    opener = urllib.request.build_opener(_redirect_limit(max_redirect_hops))
    problem: object = None
    attempt, most = 0, part.size
    while attempt < ATTEMPTS:
        time.sleep(PAUSE_S * 2 ** (attempt - 1) if attempt else 0)
        try:
            if _stream(opener, url, part, md5):
                return
            problem = "it ended early"
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in _BUSY or attempt == ATTEMPTS - 1:
                raise _named(error, url) from None
            problem = error
        except urllib.error.URLError as error:
            if not isinstance(error.reason, _DROPPED):
                raise urllib.error.URLError(f"{url}: {error.reason}; {_by_hand(part.target)}") from error
            problem = error.reason
        except _DROPPED as error:
            problem = error
        attempt = 1 if part.size > most else attempt + 1
        most = max(most, part.size)
    raise urllib.error.URLError(
        f"{url}: the connection failed {ATTEMPTS} times ({problem}); call again to go on from where it stopped; "
        f"{_by_hand(part.target)}"
    )


def _by_hand(target: Path) -> str:
    """What to do without a network."""
    return f"without a network, put the file at {target}, or {target.name} into a folder that TENFOLD_OFFLINE_FOLDER names"


def _ascii(url: str) -> str:
    """The URL with letters beyond ASCII encoded, as browsers send it."""
    return url if url.isascii() else quote(url, safe="%/:?#[]@!$&'()*+,;=~")


def _named(error: urllib.error.HTTPError, url: str) -> urllib.error.HTTPError:
    """The same error with the URL in its message."""
    return urllib.error.HTTPError(url, error.code, f"{error.msg} ({url})", error.headers, None)


def _stream(opener: urllib.request.OpenerDirector, url: str, part: _Part, md5: str | None) -> bool:
    """One request; whether the file is whole afterwards."""
    validator = part.validator(url)
    if part.size and not validator and md5 is None:  # nothing would tell whether the rest is of the same file
        part.start_over()
    have = part.size
    request = urllib.request.Request(_ascii(url), headers={"User-Agent": "tenfold"})
    if have:
        request.add_header("Range", f"bytes={have}-")
        if validator:
            request.add_header("If-Range", validator)
    try:
        response = opener.open(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # nothing after the last byte: whole, or the part of a longer file
            raise
        error.close()
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return True
        part.start_over()
        return False
    with response:
        return _receive(response, url, part, have)


def _receive(response: http.client.HTTPResponse, url: str, part: _Part, have: int) -> bool:
    """Append an answer to the part, or begin it anew; whether it is whole then."""
    total = _total(response)
    if response.status == 206:
        first = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", f"bytes {have}-"))
        if first is None or int(first[1]) != have:
            part.start_over()
            return False
    else:
        part.start_over()
        part.note_source(url, response)
    bar = Bar(part.target.name, total)
    try:
        while chunk := response.read(CHUNK_BYTES):
            part.file.write(chunk)
            bar.show(part.file.tell())
    finally:
        bar.close()
        part.file.flush()
    return total is None or part.size == total


def _total(response: http.client.HTTPResponse) -> int | None:
    """How many bytes the whole file has, if the server says it."""
    if response.status == 206:
        total = response.headers.get("Content-Range", "").rpartition("/")[2]
        if total.isdigit():
            return int(total)
        return None
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _redirect_limit(hops: int) -> type[urllib.request.HTTPRedirectHandler]:
    return type("RedirectLimit", (urllib.request.HTTPRedirectHandler,), {"max_redirections": hops})
