"""What calls leave behind: references to objects, and objects."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from typing import Any

SMALL = 100  # changes are nothing beside the five hundred calls and more of a run


def left_behind(run: Callable[[], Any], things: Iterable[Any] = ()) -> int:
    """By how many a run changes the references to `things`, or adds to the objects and blocks of memory there are.

    It is the least of up to three runs: what calls leave, each run leaves; what other tests left comes or goes once.
    """
    kept, least = list(things), sys.maxsize
    for _ in range(3):
        least = min(least, _in_one_run(run, kept))
        if least < SMALL:
            break
    return least


def _in_one_run(run: Callable[[], Any], things: list[Any]) -> int:
    while gc.collect():  # what goes takes others with it
        pass
    before = [sys.getrefcount(thing) for thing in things]
    objects, blocks = len(gc.get_objects()), sys.getallocatedblocks()
    run()
    gc.collect()
    changed = [abs(sys.getrefcount(thing) - n) for thing, n in zip(things, before, strict=True)]
    return max(*changed, 0, len(gc.get_objects()) - objects, sys.getallocatedblocks() - blocks)


def repeated(calls: Iterable[Callable[[], Any]], times: int) -> Callable[[], None]:
    """A run of each call in turn, many times."""

    def run() -> None:
        for call in calls:
            for _ in range(times):
                call()

    return run
