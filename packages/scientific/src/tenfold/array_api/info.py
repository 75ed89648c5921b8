"""What the namespace can do: `__array_namespace_info__`."""

from __future__ import annotations

import sys
from typing import Any

import tenfold
from tenfold.array_api.data_types import KINDS

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def array_namespace(api_version: str | None = None) -> Any:
    """The namespace of a version of the standard; ValueError for one that it does not follow."""
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(f"tenfold.array_api follows {VERSIONS[-1]} and the versions before, not {api_version!r}")
    return sys.modules["tenfold.array_api"]


class __array_namespace_info__:  # noqa: N801 - the standard's name
    """Capabilities, devices and dtypes, each asked for by a method."""

    def capabilities(self) -> dict[str, Any]:
        """Whether masks index, and shapes may depend on data; how many dimensions arrays may have."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where arrays are made unless told otherwise."""
        return tenfold.get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtype of new arrays of each kind."""
        real = tenfold.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": tenfold.complex128 if real is tenfold.float64 else tenfold.complex64,
            "integral": tenfold.int64,
            "indexing": tenfold.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of a kind, or of several, by name."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {dtype.name: dtype for k in kinds for dtype in KINDS[k]}

    def devices(self) -> tuple[Any, ...]:
        """The devices that there are."""
        found = [tenfold.device("cpu")]
        count = tenfold.cuda.device_count() if tenfold.cuda.is_available() else 0
        return (*found, *(tenfold.device("cuda", i) for i in range(count)))
