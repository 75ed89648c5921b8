"""Models by name from folders with a `hubconf.py`: `torch.hub`.

A folder is used as it is (`source="local"`). A repository's name, "owner/name:branch", means its copy in the hub's folder
(`get_dir()`), where PyTorch keeps it, too; where there is none yet it is fetched from GitHub. Its code runs: use what you trust.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import types
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import tenfold
from tenfold.settings.environment import HOME, OFFLINE_FOLDER

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK_BYTES = 1 << 18
_dir: str | None = None


def get_dir() -> str:
    """The hub's folder: what `set_dir` set, else `hub` in TORCH_HOME, else in TENFOLD_HOME."""
    return os.path.join(_get_torch_home(), "hub") if _dir is None else _dir


def _get_torch_home() -> str:
    """The folder of caches: TORCH_HOME, else TENFOLD_HOME."""
    return os.path.expanduser(os.environ.get("TORCH_HOME") or HOME.read())


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the hub's folder."""
    global _dir
    _dir = os.path.expanduser(d)


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function `model` of a `hubconf.py` returns for the other arguments.

    Raises: ValueError for another source; RuntimeError where the function or a package that the file needs is missing.
    """
    folder = _folder(repo_or_dir, source, force_reload, verbose)
    return _entry(_hubconf(folder), model)(*args, **kwargs)


def list(
    github: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None, verbose: bool = True
) -> builtins.list[str]:
    """The names of a repository's models: the public functions of its `hubconf.py`."""
    source = "local" if os.path.isdir(github) else "github"
    found = vars(_hubconf(_folder(github, source, force_reload, verbose)))
    return [name for name, value in found.items() if callable(value) and not name.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None
) -> str | None:
    """The documentation of one of a repository's models."""
    source = "local" if os.path.isdir(github) else "github"
    return _entry(_hubconf(_folder(github, source, force_reload, False)), model).__doc__


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The checkpoint at a URL, fetched into `checkpoints` of the hub's folder unless it is there already.

    With `check_hash` the file's name ends in the first digits of its SHA-256, which must agree: RuntimeError.
    """
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    target = folder / name
    if not target.exists():
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, target, None if found is None else found[1], progress)
    return tenfold.load(target, map_location=map_location, weights_only=weights_only)


def download_url_to_file(url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetch a file, and put it in place only when it is whole and its SHA-256 begins with `hash_prefix`: RuntimeError.

    With the environment variable TENFOLD_OFFLINE_FOLDER the file of that name is taken from there.
    """
    target = Path(dst).expanduser()
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as part:
        try:
            with _opened(url) as response:
                while chunk := response.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    part.write(chunk)
            if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            part.close()
            shutil.move(part.name, target)
        finally:
            part.close()
            Path(part.name).unlink(missing_ok=True)


def _opened(url: str) -> Any:
    offline = OFFLINE_FOLDER.read()
    if offline:
        return open(Path(offline).expanduser() / os.path.basename(urlparse(url).path), "rb")
    if urlparse(url).scheme not in ("http", "https", "file"):
        raise ValueError(f"download_url_to_file: {url} is neither http nor https nor a file")
    return urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "tenfold.hub"}))


def _folder(repo: str, source: str, force_reload: bool, verbose: bool) -> Path:
    """Where the `hubconf.py` is."""
    if source.lower() not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    return Path(repo).expanduser() if source.lower() == "local" else _repository(repo, force_reload, verbose)


def _repository(name: str, force_reload: bool, verbose: bool) -> Path:
    """The copy of a repository of GitHub's, which is fetched where there is none."""
    full, _, branch = name.partition(":")
    if full.count("/") != 1:
        raise ValueError(f"torch.hub: a repository is named owner/name or owner/name:branch, got {name!r}")
    candidates = [branch] if branch else ["main", "master"]
    places = [Path(get_dir()) / f"{full.replace('/', '_')}_{one.replace('/', '_')}" for one in candidates]
    for place in places:
        if place.exists() and not force_reload:
            if verbose:
                sys.stderr.write(f"Using cache found in {place}\n")
            return place
    _fetch(f"https://github.com/{full}/zipball/{candidates[0]}", places[0])
    return places[0]


def _fetch(url: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        archive = Path(scratch) / "archive.zip"
        download_url_to_file(url, archive, progress=False)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(Path(scratch) / "files")
        (only,) = (Path(scratch) / "files").iterdir()
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(only, place)


@contextlib.contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _hubconf(folder: Path) -> types.ModuleType:
    """The module of a folder's `hubconf.py`."""
    file = folder / "hubconf.py"
    if not file.exists():
        raise FileNotFoundError(f"torch.hub: {folder} has no hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"torch.hub: {file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    with _on_path(folder):
        spec.loader.exec_module(module)
    missing = [name for name in getattr(module, "dependencies", None) or () if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: types.ModuleType, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    if name == "tqdm":  # the progress bar, which some programs take from here
        return importlib.import_module("tqdm").tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
