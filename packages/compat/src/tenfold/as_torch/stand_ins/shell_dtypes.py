"""Dtypes that PyTorch names and that no tensor has here: integers and floats of a few bits, bare bits, quantized integers."""

from __future__ import annotations

from typing import Any

from tenfold.types.dtypes import dtype

_SIZES = {"qint32": 4, "bits16": 2}
NAMES = (
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in range(1, 8)),
    *"float4_e2m1fn_x2 float8_e8m0fnu bits8 bits16 bits1x8 bits2x4 bits4x2 qint8 qint32 quint8 quint2x4 quint4x2".split(),
)


class ShellDtype(dtype):
    """A dtype that programs compare with and that no tensor has.

    >>> DTYPES["uint4"].is_signed, DTYPES["int4"].itemsize
    (False, 1)
    """

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, _SIZES.get(name, 1), 2 if name.startswith("float") else 1)
        self.is_signed = name[0] in "iqf" and not name.startswith("quint") and name != "float8_e8m0fnu"

    def __getattr__(self, name: str) -> Any:
        if name == "numpy":
            raise NotImplementedError(f"{self!r}: no tensors have this dtype; take int8, uint8 or a larger one")
        raise AttributeError(f"'dtype' object has no attribute {name!r}")

    def __reduce__(self) -> Any:
        return _named, (self.name,)


def _named(name: str) -> dtype:
    return DTYPES[name]


DTYPES: dict[str, dtype] = {name: ShellDtype(name) for name in NAMES}
