"""PyTorch's typed tensor classes of the device "cuda": `tenfold.cuda.FloatTensor` and its kin."""

from __future__ import annotations

from typing import Any

from tenfold.checkpoint.typed_tensors import TYPED as CPU_TYPED

TYPED: dict[str, Any] = {
    name: type(kind)(name, (), {"dtype": kind.dtype, "device_type": "cuda", "is_cuda": True, "__module__": "tenfold.cuda"})
    for name, kind in CPU_TYPED.items()
}
