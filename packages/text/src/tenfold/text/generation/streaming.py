"""Texts shown while they are written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any


class TextStreamer:
    """Decodes tokens as they come and hands on what is certain: words that no later token can change.

    `tokenizer` has `decode(ids)`; `write` takes pieces of text, by default it prints them.

    >>> class Letters:
    ...     def decode(self, ids): return "".join(chr(97 + i) for i in ids)
    >>> streamer = TextStreamer(Letters())
    >>> for i in (7, 8): streamer.put([i])
    >>> streamer.end()
    hi
    """

    def __init__(self, tokenizer: Any, write: Callable[[str], None] | None = None) -> None:
        self.tokenizer, self.ids, self.shown = tokenizer, list[int](), 0
        self.write = print_piece if write is None else write
        self._prints = write is None

    def put(self, ids: Sequence[int]) -> None:
        """The next tokens of the text."""
        self.ids += ids
        text = self.tokenizer.decode(self.ids)
        certain = text if text.endswith("\n") else text[: text.rfind(" ") + 1]
        self._show(certain)

    def end(self) -> None:
        """The text is complete; another may follow."""
        self._show(self.tokenizer.decode(self.ids))
        if self._prints:
            self.write("\n")
        self.ids, self.shown = [], 0

    def _show(self, text: str) -> None:
        if len(text) > self.shown:
            self.write(text[self.shown :])
            self.shown = len(text)


def print_piece(text: str) -> None:
    """Print a piece of text without a line break."""
    sys.stdout.write(text)
    sys.stdout.flush()
