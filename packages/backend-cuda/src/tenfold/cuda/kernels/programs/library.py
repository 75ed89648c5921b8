"""The mathematical functions that kernels by hand call: libdevice's, and where kernels are interpreted NumPy's."""

from __future__ import annotations

import os
from typing import Any


def _found() -> Any:
    if os.environ.get("TRITON_INTERPRET") == "1":
        from tenfold.cuda.interpreter import LIBDEVICE  # which compiled kernels do without

        return LIBDEVICE
    from triton.language.extra import libdevice  # which interpreted ones do without

    return libdevice


math = _found()
