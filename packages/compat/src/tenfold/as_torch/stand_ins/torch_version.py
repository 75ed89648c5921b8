"""`torch.torch_version.TorchVersion`: a version that compares by its numbers."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]


def _key(version: Any) -> tuple[Any, ...]:
    """What versions are ordered by: the numbers, then pre-releases before the release, then the local part."""
    if isinstance(version, (tuple, list)):
        version = ".".join(str(part) for part in version)
    found = re.fullmatch(r"v?(\d+(?:\.\d+)*)([._-]?(?:a|b|rc|dev)[._-]?\d*)?(?:[._-]?post\d+)?(?:\+(.*))?", str(version).strip())
    if found is None:
        raise ValueError(f"Invalid version: {version!r}")
    numbers = [int(number) for number in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return numbers, found[2] is None, found[2] or "", found[3] or ""


class TorchVersion(str):
    """A version as text that compares by its numbers with text, tuples and other versions.

    >>> TorchVersion("2.13.0+tenfold") > "2.9", TorchVersion("2.13.0") >= (2, 13), TorchVersion("2.13.0") == "2.13"
    (True, True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _key(self) < _key(other)

    def __le__(self, other: Any) -> bool:
        return _key(self) <= _key(other)

    def __gt__(self, other: Any) -> bool:
        return _key(self) > _key(other)

    def __ge__(self, other: Any) -> bool:
        return _key(self) >= _key(other)

    def __eq__(self, other: object) -> bool:
        try:
            return _key(self) == _key(other)
        except ValueError:  # no version: compared as text
            return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
