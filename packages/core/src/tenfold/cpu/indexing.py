"""NumPy kernels of indexing."""

from __future__ import annotations

from typing import Any

from tenfold.kernels import kernel
from tenfold.operators import op


@kernel(op.getitem, device="cpu")
def getitem(input: Any, index: Any) -> Any:
    return input[(*index, ...) if type(index) is tuple else (index, ...)]
