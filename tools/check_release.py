"""Check what an upload to a package index needs: python tools/check_release.py DIST

For each package, DIST holds one source archive and one wheel of the version that its pyproject.toml names. Their metadata is
complete and valid, the README has no links that an index cannot follow, the licence is in both, the source archive holds what
the wheel was built from, and the changelog has an entry for the version. Needs `packaging` (it comes with hatchling).
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.metadata import Metadata
from workspace import ROOT, Package, packages

LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")
REQUIRED = ("summary", "description", "license_expression", "requires_python", "classifiers", "project_urls", "keywords")
URLS = ("Documentation", "Source", "Changelog")


def check(package: Package, folder: Path) -> Iterator[str]:
    """What stands in the way of uploading one package, a line each."""
    stem = f"{package.name.replace('-', '_')}-{package.version}"
    wheel, archive = folder / f"{stem}-py3-none-any.whl", folder / f"{stem}.tar.gz"
    missing = [path.name for path in (wheel, archive) if not path.exists()]
    if missing:
        yield f"{package.name}: {' and '.join(missing)} not built"
        return
    with zipfile.ZipFile(wheel) as opened:
        in_wheel = set(opened.namelist())
        metadata = opened.read(f"{stem}.dist-info/METADATA")
    with tarfile.open(archive) as tar:
        in_archive = {name.removeprefix(f"{stem}/") for name in tar.getnames()}
        info = tar.extractfile(f"{stem}/PKG-INFO")
        same = info is not None and info.read() == metadata
    if not same:
        yield f"{package.name}: the metadata of its source archive and its wheel differ"
    yield from (f"{package.name}: {complaint}" for complaint in check_metadata(metadata, package))
    yield from (f"{package.name}: {complaint}" for complaint in check_files(package, stem, in_wheel, in_archive))
    changelog = (package.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## [{package.version}]" not in changelog:
        yield f"{package.name}: CHANGELOG.md has no entry [{package.version}]"


def check_metadata(text: bytes, package: Package) -> Iterator[str]:
    """What is wrong with a wheel's metadata."""
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:
        yield from (f"metadata: {error}" for error in group.exceptions)
        return
    if (metadata.name, str(metadata.version)) != (package.name, package.version):
        yield f"metadata: it is of {metadata.name} {metadata.version}, not of {package.name} {package.version}"
    yield from (f"metadata: {name} is missing" for name in REQUIRED if not getattr(metadata, name))
    if not (metadata.author or metadata.author_email):
        yield "metadata: author is missing"
    yield from (f"metadata: the URL {name} is missing" for name in URLS if name not in (metadata.project_urls or {}))
    if metadata.description_content_type != "text/markdown":
        yield f"metadata: the README is {metadata.description_content_type}, expected text/markdown"
    for link in LINK.findall(metadata.description or ""):
        yield f"README.md: an index cannot follow the link to {link}; write where it is on the web, or leave it out"
    if (metadata.description or "").count("```") % 2:
        yield "README.md: a fence is never closed"


def check_files(package: Package, stem: str, in_wheel: set[str], in_archive: set[str]) -> Iterator[str]:
    """What the archives lack."""
    yield from (
        f"the source archive lacks {name}" for name in ("pyproject.toml", "README.md", "LICENSE") if name not in in_archive
    )
    if f"{stem}.dist-info/licenses/LICENSE" not in in_wheel:
        yield "the wheel lacks the licence"
    of_project = {name for name in in_wheel if ".dist-info/" not in name}
    for name in sorted(of_project - {name.removeprefix("src/") for name in in_archive}):
        yield f"the source archive lacks {name}, which is in the wheel"
    for include in package.includes:
        top = include.removeprefix("src/")
        if not any(name == top or name.startswith(f"{top}/") for name in of_project):
            yield f"the wheel lacks {top}"


def main() -> int:
    folder = Path(sys.argv[1])
    found = [complaint for package in packages(ROOT).values() for complaint in check(package, folder)]
    print("\n".join([*found, f"check_release: {len(packages(ROOT))} packages, {len(found)} problems"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
