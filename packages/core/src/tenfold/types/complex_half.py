"""complex32: pairs of float16, which NumPy stores as a record; it is computed in complex64 and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.settings.warnings import warn_once

# NumPy moves, joins and compares records like numbers, but does not compute with them.
RECORD = np.dtype([("real", np.float16), ("imag", np.float16)])


def announce() -> None:
    """PyTorch's warning, once: few operators compute with these numbers."""
    warn_once("ComplexHalf", "ComplexHalf support is experimental and many operators don't support it yet.", 5)


def widened(array: Any) -> Any:
    """Records as complex64; any other array as it is."""
    if getattr(array, "dtype", None) != RECORD:
        return array
    out = np.empty_like(array, np.complex64, subok=False)
    out.real, out.imag = array["real"], array["imag"]
    return out


def narrowed(array: Any) -> Any:
    """Numbers of any dtype as records, rounded to half precision."""
    array = np.asarray(array)
    if array.dtype == RECORD:
        return array
    announce()
    out = np.empty_like(array, RECORD, subok=False)
    with np.errstate(all="ignore"):
        out["real"], out["imag"] = array.real, (array.imag if array.dtype.kind == "c" else 0)
    return out


def computed(kernel: Any, arguments: list[Any]) -> Any:
    """What a kernel says of records: computed in complex64, as records again, and real results as float16."""
    result = kernel(*map(widened, arguments))
    kind = getattr(result, "dtype", None)
    return narrowed(result) if kind == np.complex64 else result.astype(np.float16) if kind == np.float32 else result
