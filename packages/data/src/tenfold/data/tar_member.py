"""Members of tar archives, the damage of which is an error."""

from __future__ import annotations

import tarfile
from tarfile import HeaderError, ReadError, TarFile
from typing import Self

_ENDS = {"EOFHeaderError", "EmptyHeaderError", "SubsequentHeaderError"}  # of an archive, and what tarfile raises itself


class Member(tarfile.TarInfo):
    """For `tarfile.open(path, tarinfo=Member)`: raises where Python takes a damaged or cut header for the archive's end.

    Raises: tarfile.ReadError, with the place, instead of leaving out all that follows.
    """

    @classmethod
    def fromtarfile(cls, tarfile: TarFile) -> Self:
        """The next member of an archive."""
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as error:
            if type(error).__name__ in _ENDS:
                raise
            raise ReadError(f"at byte {tarfile.offset}: {error}; the archive is damaged or not whole") from None
