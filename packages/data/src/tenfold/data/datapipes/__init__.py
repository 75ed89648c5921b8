"""PyTorch's data pipes, `torch.utils.data.datapipes`, for programs that are written with them.

`tenfold.data.pipes` does the same with fewer names, and shares itself out among a loader's workers.
"""

from __future__ import annotations

from tenfold.data.datapipes import iter, map
from tenfold.data.datapipes.datapipe import DataChunk

__all__ = ["DataChunk", "iter", "map"]
