"""Triton's compiler as far as PTX: machine code, which takes a quarter of the time, is not asked for."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from tenfold.cuda.compilation import compile_for


@lru_cache(maxsize=1)
def _only_to_ptx() -> None:
    """Leave out the last stage, in this process; what is kept on disk lies apart from what has all of them."""
    from triton.backends.nvidia.compiler import CUDABackend

    kept = os.environ.get("TRITON_CACHE_DIR") or Path.home() / ".triton" / "cache"
    os.environ["TRITON_CACHE_DIR"] = str(Path(kept).with_name("ptx_only"))
    begin, add = CUDABackend.__init__, CUDABackend.add_stages

    def __init__(self: Any, target: Any) -> None:
        begin(self, target)
        self.binary_ext = "ptx"

    def add_stages(self: Any, stages: Any, *arguments: Any) -> None:
        add(self, stages, *arguments)
        stages.pop("cubin", None)

    CUDABackend.__init__, CUDABackend.add_stages = __init__, add_stages


def ptx_for(capability: int, kernel: Any, signature: tuple[str, ...], divisible: tuple[int, ...]) -> tuple[str, Any]:
    """(a kernel's PTX, what Triton says of it)."""
    _only_to_ptx()
    compiled = compile_for(capability, kernel, signature, divisible)
    text = compiled.asm["ptx"]
    return text.decode() if isinstance(text, bytes) else text, compiled.metadata
