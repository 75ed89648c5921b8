"""How far a download or a pass over a loader is, in one line on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

WIDTH = 30
EVERY_S = 0.1  # between two looks of the line


class Bar:
    """A line such as ``train.tar.gz  [#####.....]  50 %  12.5 of 25.0 MB``; nothing where standard error is no terminal."""

    def __init__(self, name: str, total: int | None) -> None:
        self.name, self.total, self.next = name, total, 0.0
        self.shown = sys.stderr is not None and sys.stderr.isatty()

    def show(self, done: int) -> None:
        """Draw the line anew, not more often than an eye can follow."""
        if self.shown and (time.monotonic() >= self.next or done == self.total):
            self.next = time.monotonic() + EVERY_S
            sys.stderr.write("\r" + self.line(done))
            sys.stderr.flush()

    def line(self, done: int) -> str:
        """What is shown.

        >>> Bar("a.zip", 4_000_000).line(1_000_000)
        'a.zip  [#######.......................]  25 %  1.0 of 4.0 MB'
        """
        if not self.total:
            return f"{self.name}  {done / 1e6:.1f} MB"
        marks = WIDTH * done // self.total
        return (
            f"{self.name}  [{'#' * marks}{'.' * (WIDTH - marks)}]  {100 * done // self.total} %  "
            f"{done / 1e6:.1f} of {self.total / 1e6:.1f} MB"
        )

    def close(self) -> None:
        """End the line."""
        if self.shown:
            sys.stderr.write("\n")


def shown(batches: Iterable[Any], total: int | None, title: bool | str) -> Iterable[Any]:
    """The batches, with a bar of tqdm that moves as they are taken. Raises: ImportError without tqdm."""
    try:
        from tqdm.auto import tqdm  # an extra
    except ImportError:
        raise ImportError("DataLoader: progress=True needs tqdm: pip install 'tenfold-data[progress]'") from None
    bar: Iterable[Any] = tqdm(batches, desc=title if isinstance(title, str) else None, total=total)
    return bar
