"""Vocabularies in text files: a token in each line, or JSON from tokens to indices."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

Name = str | os.PathLike[str]
_BREAKS = "\n\r"


def write_tokens(tokens: Sequence[str], path: Name) -> None:
    """Write tokens in the order of their indices.

    Raises: ValueError for a token with a line break in a file that is not JSON.
    """
    target = Path(path)
    if target.suffix == ".json":
        indices = {token: index for index, token in enumerate(tokens)}
        target.write_text(json.dumps(indices, ensure_ascii=False), encoding="utf-8")
        return
    broken = next((token for token in tokens if any(mark in token for mark in _BREAKS)), None)
    if broken is not None:
        raise ValueError(
            f"Vocab.save: the token {broken!r} has a line break, a line of {target.name} cannot hold it; save as .json"
        )
    target.write_text("".join(token + "\n" for token in tokens), encoding="utf-8", newline="")


def read_tokens(path: Name) -> list[str]:
    """The tokens of a file, by index.

    Raises: ValueError for a file that is not in UTF-8, a token that is there twice, JSON whose indices are not 0, 1, 2, ...
    """
    source = Path(path)
    try:
        text = source.read_bytes().decode("utf-8-sig")  # some editors put a mark before the text
    except UnicodeDecodeError as error:
        raise ValueError(f"Vocab: {source} is not in UTF-8 ({error}); save it anew in that encoding") from None
    return _from_json(text, source) if source.suffix == ".json" else _from_lines(text, source)


def _from_json(text: str, source: Path) -> list[str]:
    try:
        indices = json.loads(text)
        tokens = sorted(indices, key=indices.__getitem__)
        right = [indices[token] for token in tokens] == list(range(len(tokens)))
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(f"Vocab: {source} is not a JSON object from tokens to indices: {error}") from None
    if not right:
        raise ValueError(f"Vocab: the indices in {source} are not 0 to {len(tokens) - 1}, each once")
    return tokens


def _from_lines(text: str, source: Path) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    tokens = lines[:-1] if lines[-1] == "" else lines
    first: dict[str, int] = {}
    for number, token in enumerate(tokens, 1):
        if first.setdefault(token, number) != number:
            raise ValueError(f"Vocab: {source}, line {number}: the token {token!r} is in line {first[token]} already")
    return tokens
