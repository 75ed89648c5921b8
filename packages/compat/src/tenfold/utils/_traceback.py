"""`torch.utils._traceback`: where a program is, kept cheaply and told later, and lines of code that was never in a file."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["CapturedTraceback", "format_frame", "format_traceback_short", "report_compile_source_on_error", "shorten_filename"]


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """A file's path from the first folder on that it does not share with another file, Tenfold's own by default.

    >>> shorten_filename("/home/me/project/model.py", base="/home/me/tools/run.py")
    'project/model.py'
    """
    base = os.path.dirname(os.path.dirname(__file__)) if base is None else base
    try:
        shared = os.path.commonpath([base, fn])
    except ValueError:  # on two drives, or one of them relative
        return fn
    return fn[len(shared) :].lstrip(os.sep)


def format_frame(frame: Any, *, base: str | None = None, line: bool = False) -> str:
    """One entry of a traceback's summary on a line, with its code where asked for."""
    code = f"{frame.line}  # " if line else ""
    return f"{code}{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb: TracebackType | None) -> str:
    """The innermost place of a traceback, on a line."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """Where the program was. Frames are kept as code and line; texts are read when somebody asks for them.

    >>> "in <module>" in CapturedTraceback.extract().format()[-1]
    True
    """

    __slots__ = ("_places", "skip")

    def __init__(self, places: Sequence[tuple[CodeType, int]] | None, skip: int = 0) -> None:
        self._places, self.skip = places, skip

    @staticmethod
    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> CapturedTraceback:
        """The place of the caller; `skip` leaves out as many of the innermost frames."""
        places: list[tuple[CodeType, int]] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            places.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return CapturedTraceback(places[skip:])

    def cleanup(self) -> None:
        """Forget it."""
        self._places = None

    def summary(self) -> traceback.StackSummary:
        """The frames, outermost first, as the standard library tells them."""
        found = self._places or ()
        return traceback.StackSummary.from_list(
            [traceback.FrameSummary(code.co_filename, line, code.co_name) for code, line in reversed(found)]
        )

    def format(self) -> list[str]:
        """A text for each frame, outermost first."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs: Sequence[CapturedTraceback | None]) -> list[list[str]]:
        """The texts of several."""
        return [[] if tb is None else tb.format() for tb in tbs]


class report_compile_source_on_error:  # noqa: N801 - PyTorch's name
    """A context that gives errors the lines of made code, which functions' globals hold as `__compile_source__`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if isinstance(error, Exception):
            error.__traceback__ = _with_sources(tb)


def _with_sources(tb: TracebackType | None) -> TracebackType | None:
    """The traceback, with frames of made code in the place of those whose text stands in their globals."""
    chain: list[TracebackType] = []
    while tb is not None:
        chain.append(tb)
        tb = tb.tb_next
    rest: TracebackType | None = None
    for step in reversed(chain):
        source = step.tb_frame.f_globals.get("__compile_source__")
        frame = step.tb_frame if source is None else _frame_in_file(source, step.tb_frame.f_code.co_name, step.tb_lineno)
        instruction = step.tb_lasti if source is None else -1  # none: the line counts
        rest = TracebackType(rest, frame, instruction, step.tb_lineno)
    return rest


def _frame_in_file(source: str, name: str, line: int) -> FrameType:
    """A frame that a traceback shows at a line of a file with the text; the file stays, since the traceback may be read late."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="made_", delete=False) as file:
        file.write(source)
    code = compile("__import__('sys')._getframe()", file.name, "eval").replace(co_name=name, co_firstlineno=line)
    frame: FrameType = eval(code)  # noqa: S307 - the code is the line above
    return frame
