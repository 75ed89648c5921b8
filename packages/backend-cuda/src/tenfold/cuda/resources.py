"""Registers, spilled bytes and shared memory of the kernels written by hand: `python -m tenfold.cuda.resources`.

Compiled on any machine with Triton; the numbers are the assembler's. A spilled byte is one of a thread's private memory.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tenfold.cuda.compilation import compile_for
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.kernels.handwritten import Handwritten, tiled
from tenfold.cuda.kernels.multi_tensor import PIECE

CAPABILITIES = (80, 90)
NARROW, WIDE = 768, 50257  # widths of rows: those of GPT-2, of its layers and of its vocabulary


def kernels() -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """(label, kernel, its arguments' types)."""
    s, words, index = "*fp32", "*i32", "*i64"
    for kind in ("fp32", "bf16"):
        p, two = "*" + kind, ("i32", "i32")
        for width in (NARROW, WIDE):
            label = f"{kind} {width}"
            yield f"softmax {label}", tiled("softmax_rows", 4096, width, False, LOG=0)[0], (p, p, *two)
            loss = tiled("cross_entropy_rows", 4096, width, False, REDUCTION=2, WEIGHT=0)[0]
            yield f"cross entropy {label}", loss, (p, s, s, s, s, words, words, p, index, p, "i32", *two, "i32")
            slope = tiled("cross_entropy_gradient", 4096, width, False, REDUCTION=2, WEIGHT=0)[0]
            yield f"cross entropy gradient {label}", slope, (p, p, p, index, p, s, s, s, *two, "i32", "i32")
        norm = tiled("norm_rows", 4096, NARROW, False, CENTERED=1, WEIGHT=1, BIAS=1)[0]
        yield f"layer norm {kind} {NARROW}", norm, (p, s, s, p, p, p, *two, "fp32")
        slope = tiled("norm_gradient", 4096, NARROW, False, CENTERED=1, WEIGHT=1)[0]
        yield f"layer norm gradient {kind} {NARROW}", slope, (p, p, p, s, s, p, *two)
        adam = Handwritten("adam_step", (("DECAY", 1), ("KIND", kind), ("AMSGRAD", 0), ("BLOCK", PIECE)), 8)
        yield f"adamw {kind}", adam, (index, *["fp32"] * 7)
    yield "check of indices", Handwritten("check_indices", (("BLOCK", BLOCK),)), (words, index, "i32", "i32", "i32", "i32")


def measured(capability: int, kernel: Handwritten, signature: tuple[str, ...]) -> tuple[int, int, int]:
    """(registers of a thread, bytes that it spills, bytes of shared memory of a program)."""
    import triton

    compiled = compile_for(capability, kernel, signature, [i for i, kind in enumerate(signature) if kind[0] == "*"])
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        text = subprocess.run([tool, "-res-usage", file.name], check=True, capture_output=True, text=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", text)
    assert found is not None, text
    return int(found[1]), int(found[2]), int(compiled.metadata.shared)


def main() -> None:
    """Print the table, a row for each kernel and capability: comma-separated, as the tests keep it for a version of Triton."""
    print("kernel,capability,registers,spilled,shared")
    for capability in CAPABILITIES:
        for label, kernel, signature in kernels():
            print(f"{label},{capability},{','.join(map(str, measured(capability, kernel, signature)))}", flush=True)


if __name__ == "__main__":
    main()
