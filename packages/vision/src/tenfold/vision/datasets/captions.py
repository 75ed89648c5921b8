"""Published photographs with captions: SBU, Flickr8k and Flickr30k."""

from __future__ import annotations

import contextlib
import os
import re
import urllib.error
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tenfold.data.download import download_url, name_in
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Archive, Loader, Name, PublishedDataset
from tenfold.vision.datasets.vision import VisionDataset


class SBU(PublishedDataset):
    """A million photographs of Flickr, each with its caption; those that were taken away since are left out.

    Source: V. Ordonez, G. Kulkarni, T. Berg, Im2Text, NIPS 2011.
    """

    archives = (
        Archive("https://www.cs.rice.edu/~vo9/sbucaptions/SBUCaptionedPhotoDataset.tar.gz", "9aec147b3488753cf758b4d493422285"),
    )

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None, download: bool = True,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        places, captions = (f"dataset/SBU_captioned_photo_dataset_{kind}.txt" for kind in ("urls", "captions"))
        super().__init__(root, transform, target_transform, download, loader, needs=[places, captions])
        urls = (self.folder / places).read_text().splitlines()
        for url, caption in zip(urls, (self.folder / captions).read_text().splitlines(), strict=False):
            photo = self.folder / "dataset" / os.path.basename(url.strip())
            if photo.is_file():
                self.samples.append((photo, caption.rstrip()))
        self.photos = [photo.name for photo, _ in self.samples]
        self.captions = [caption for _, caption in self.samples]

    def _fetch(self, archives: Any) -> None:
        super()._fetch(archives)
        for url in (self.folder / "dataset" / "SBU_captioned_photo_dataset_urls.txt").read_text().split():
            with contextlib.suppress(urllib.error.URLError, OSError):  # taken away by whoever put it there
                download_url(url, self.folder / "dataset", name_in(url))


class _Captioned(VisionDataset):
    """Photographs in a folder, and a file with captions of each."""

    def __init__(self, root: Name, ann_file: Name, transform: Any = None, target_transform: Any = None,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.ann_file = os.path.expanduser(ann_file)
        self.loader = loader
        self.annotations: dict[str, list[str]] = defaultdict(list)
        self._read(Path(self.ann_file).read_text(encoding="utf-8"))
        self.ids = sorted(self.annotations)

    def _read(self, text: str) -> None:
        """Fill ``annotations``, captions by the name of the photograph."""
        raise NotImplementedError

    def _path(self, photo: str) -> str:
        return os.path.join(str(self.root), photo)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        photo = self.ids[index]
        return self._transformed(self.loader(self._path(photo)), self.annotations[photo])

    def __len__(self) -> int:
        return len(self.ids)


class Flickr30k(_Captioned):
    """Photographs of Flickr; a target is the list of a picture's captions.

    ``ann_file`` has in each line a picture's name, ``#``, a caption's number, a tab, and the caption.

    Source: P. Young and others, From image descriptions to visual denotations, 2014.
    """

    def _read(self, text: str) -> None:
        for line in text.splitlines():
            if line.strip():
                numbered, _, caption = line.strip().partition("\t")
                self.annotations[numbered.rpartition("#")[0]].append(caption)


class Flickr8k(_Captioned):
    """Photographs of Flickr; a target is the list of a picture's captions.

    ``ann_file`` is the publisher's page, a table of links to photographs and lists of captions.

    Source: M. Hodosh, P. Young, J. Hockenmaier, Framing Image Description as a Ranking Task, 2013.
    """

    def _read(self, text: str) -> None:
        parser = _Page(str(self.root))
        parser.feed(text)
        self.annotations.update(parser.annotations)

    def _path(self, photo: str) -> str:
        return photo  # the page's reader has found the file


class _Page(HTMLParser):
    """Reads the publisher's page: a table of links to photographs, each followed by items with its captions.

    A link ends with the photograph's number, which the file's name begins with; where there is none, a text says so.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = Path(root)
        self.annotations: dict[str, list[str]] = {}
        self._photo: str | None = None
        self._tag = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if self._tag == "a" and text:
            self._photo = self._file(text)
        elif text == "Image Not Found":
            self._photo = None
        elif self._tag == "li" and text and self._photo is not None:
            self.annotations.setdefault(self._photo, []).append(text)

    def _file(self, link: str) -> str | None:
        number = re.search(r"/(\d+)/?$", link)
        found = sorted(self.root.glob(f"{number[1]}_*.jpg")) if number else []
        return str(found[0]) if found else None
