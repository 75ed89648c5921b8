"""How the files of published datasets become samples."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tenfold.text.datasets.archives import members, opened

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # some articles are longer than the module's limit


def labelled_csv(path: Path, member: str | None) -> Iterator[tuple[int, str]]:
    """(label, text) of rows "label","title","text"; several columns of text are joined by spaces."""
    with opened(path, member) as file:
        for row in csv.reader(file):
            yield int(row[0]), " ".join(row[1:])


def lines(path: Path, member: str | None) -> Iterator[str]:
    """The lines, with their ends as they are."""
    with opened(path, member) as file:
        yield from file


def stripped_lines(path: Path, member: str | None) -> Iterator[str]:
    """The lines, without white space around them."""
    with opened(path, member) as file:
        for line in file:
            yield line.strip()


def bare_lines(path: Path, member: str | None) -> Iterator[str]:
    """The lines, without their ends."""
    with opened(path, member) as file:
        for line in file:
            yield line.rstrip("\n")


def movie_reviews(path: Path, split: str) -> Iterator[tuple[int, str]]:
    """(label, text) of IMDB's archive: 1 for bad reviews, which come first, 2 for good ones."""
    for label, kind in ((1, "neg"), (2, "pos")):
        for name, text in members(path, ".txt"):
            if name.split("/")[-3:-1] == [split, kind]:
                yield label, text


def columns(pick: Callable[[list[str]], Any], header: bool = True, quoted: bool = False) -> Callable[..., Iterator[Any]]:
    """A reader of tab-separated rows, each made a sample by a function of its columns."""

    def read(path: Path, member: str | None) -> Iterator[Any]:
        with opened(path, member) as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
            if header:
                next(rows, None)
            for row in rows:
                sample = pick(row) if row else None
                if sample is not None:
                    yield sample

    return read


def tagged_words(separator: str | None) -> Callable[..., Iterator[list[list[str]]]]:
    """A reader of sentences: a word and its tags in each line, an empty line after each sentence; a list for each column."""

    def read(path: Path, member: str | None) -> Iterator[list[list[str]]]:
        rows: list[list[str]] = []
        with opened(path, member) as file:
            for line in file:
                fields = line.strip().split(separator) if line.strip() else []
                if fields:
                    rows.append(fields)
                elif rows:
                    yield [list(column) for column in zip(*rows, strict=True)]
                    rows = []
        if rows:
            yield [list(column) for column in zip(*rows, strict=True)]

    return read


def questions(path: Path, member: str | None) -> Iterator[tuple[str, str, list[str], list[int]]]:
    """(context, question, answers, where they start) of SQuAD's JSON; no answer is [""] and [-1]."""
    with opened(path, member) as file:
        articles = json.load(file)["data"]
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        for asked in paragraph["qas"]:
            answers = asked["answers"] or [{"text": "", "answer_start": -1}]
            texts, starts = [answer["text"] for answer in answers], [answer["answer_start"] for answer in answers]
            yield paragraph["context"], asked["question"], texts, starts
