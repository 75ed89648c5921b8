"""Streams that close themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Self

__all__ = ["StreamWrapper"]


class StreamWrapper:
    """A file or another stream, closed when nobody has it any more; whatever is asked of it, the stream answers.

    >>> import io
    >>> letters = StreamWrapper(io.BytesIO(b"abc"), name="letters")
    >>> letters.read()
    b'abc'
    """

    def __init__(self, file_obj: Any, parent_stream: StreamWrapper | None = None, name: str | None = None) -> None:
        # What it was opened from, an archive or so, stays open as long as this one.
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.closed = False

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Close all streams in a value: in lists, tuples and dicts at any depth."""
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, dict):
            for part in v.values():
                cls.close_streams(part, depth + 1)
        elif isinstance(v, (list, tuple)):
            for part in v:
                cls.close_streams(part, depth + 1)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the stream; a second time does nothing."""
        if not self.closed:
            self.closed = True
            close = getattr(self.file_obj, "close", None)
            if close is not None:
                close(*args, **kwargs)

    def autoclose(self) -> None:
        """Close the stream; it is there for programs that say so."""
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name == "file_obj":  # while it is being unpickled
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.file_obj)})

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):  # nobody is left to hear of it
            self.close()

    def __repr__(self) -> str:
        inside = f"{self.file_obj!r}" if self.name is None else f"{self.name},{self.file_obj!r}"
        return f"StreamWrapper<{inside}>"

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, file_obj: Any) -> None:
        self.__init__(file_obj)  # type: ignore[misc] # the rest is as it begins
