"""An exception of a worker process on its way to the main process."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from typing import Any


class _PlainKey(str):
    """KeyError shows the repr of its key, which would put the whole traceback on one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Failure:
    """An exception's type and text."""

    kind: type[BaseException]
    text: str

    def exception(self) -> BaseException:
        """The exception to raise again: of the original type if that can be built from one message, else RuntimeError."""
        kind: Any = self.kind
        try:
            if getattr(kind, "message", None):  # its constructor takes it by this name
                return kind(message=self.text)  # type: ignore[no-any-return]
            return kind(_PlainKey(self.text) if issubclass(kind, KeyError) else self.text)  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001 - any constructor may be asked for more
            return RuntimeError(self.text)


def capture(error: BaseException, where: str) -> Failure:
    """The failure for an exception; its type is kept when it can be pickled."""
    text = f"Caught {type(error).__name__} {where}.\nOriginal {''.join(traceback.format_exception(error))}"
    try:
        pickle.loads(pickle.dumps(type(error)))  # noqa: S301 - written in this line
    except Exception:  # noqa: BLE001 - whatever pickling raises
        return Failure(RuntimeError, text)
    return Failure(type(error), text)
