"""Multi30k: captions of pictures in German and English, sentence by sentence.

Source: D. Elliott, S. Frank, K. Sima'an, L. Specia, Multi30K: Multilingual English-German Image Descriptions, 2016.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenfold.text.datasets.published import Published, Source
from tenfold.text.datasets.readers import bare_lines

_HOME = "https://raw.githubusercontent.com/neychev/small_DL_repo/master/datasets/Multi30k/"
SOURCES = {
    "train": Source(_HOME + "training.tar.gz", "20140d013d05dd9a72dfde46478663ba05737ce983f478f960c1123c6671be5e"),
    "valid": Source(_HOME + "validation.tar.gz", "a7aa20e9ebd5ba5adce7909498b94410996040857154dab029851af3a866da8c"),
    "test": Source(_HOME + "mmt16_task1_test.tar.gz", "6d1ca1dba99e2c5dd54cae1226ff11c2551e6ce63527ebb072a1f70f72a5cd36"),
}
LANGUAGES = ("de", "en")
_FILES = {"train": "train", "valid": "val", "test": "test"}


def _sentences(path: Path, part: tuple[str, str]) -> Iterator[tuple[str, str]]:
    yield from zip(bare_lines(path, part[0]), bare_lines(path, part[1]), strict=True)


def _of(first: str, second: str) -> Published:
    parts = {split: (f"{file}.{first}", f"{file}.{second}") for split, file in _FILES.items()}
    own = "GERMAN_ENGLISH" if (first, second) == LANGUAGES else "ENGLISH_GERMAN"
    return Published("Multi30k", SOURCES, _sentences, parts, "(sentence, translation)", f"{__name__}:{own}")


GERMAN_ENGLISH, ENGLISH_GERMAN = _of("de", "en"), _of("en", "de")


def Multi30k(
    root: str | os.PathLike[str] | None = None,
    split: str | tuple[str, ...] | None = None,
    language_pair: tuple[str, str] = LANGUAGES,
) -> Any:
    """(sentence, translation) of a split ("train", "valid", "test"), or a tuple of splits.

    Raises: ValueError for languages other than German ("de") and English ("en"), and for a split that there is not.
    """
    if sorted(language_pair) != sorted(LANGUAGES):
        raise ValueError(f"Multi30k: language_pair is ('de', 'en') or ('en', 'de'), got {language_pair!r}")
    chosen = GERMAN_ENGLISH if tuple(language_pair) == LANGUAGES else ENGLISH_GERMAN
    return chosen(root, split)
