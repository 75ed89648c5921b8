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
from tenfold.cuda.kernels.handwritten import Handwritten, dealt, shared_out, tiled
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
            yield f"softmax {label}", dealt("softmax", 4096, width, False, LOG=0)[0], (p, p, *two)
            loss = dealt("cross_entropy", 4096, width, False, REDUCTION=2, WEIGHT=0, SMOOTH=0)[0]
            yield f"cross entropy {label}", loss, (p, s, s, s, s, words, words, p, index, p, "i32", *two, "i32", "fp32")
            slope = shared_out("cross_entropy_gradient", 4096, width, False, REDUCTION=2, WEIGHT=0, SMOOTH=0)[0]
            yield f"cross entropy gradient {label}", slope, (p, p, p, index, p, s, s, s, *two, "i32", "i32", "fp32")
        norm = tiled("norm_rows", 4096, NARROW, False, CENTERED=1, WEIGHT=1, BIAS=1)[0]
        yield f"layer norm {kind} {NARROW}", norm, (p, s, s, p, p, p, *two, "fp32")
        slope = tiled("norm_gradient", 4096, NARROW, False, CENTERED=1, WEIGHT=1)[0]
        yield f"layer norm gradient {kind} {NARROW}", slope, (p, p, p, s, s, p, *two)
        yield f"softmax gradient {kind} {WIDE}", dealt("softmax_gradient", 4096, WIDE, False, LOG=1)[0], (p, p, p, *two)
        yield from steps(kind)
    yield "check of indices", Handwritten("check_indices", (("BLOCK", BLOCK),)), (words, index, "i32", "i32", "i32", "i32")


def steps(kind: str) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """The kernels of optimizers."""
    fixed, table = (("SCALED", 0), ("KIND", kind), ("DOUBLE", 0), ("BLOCK", PIECE)), ("*i64", "*i64", "*i64")
    for amsgrad in (0, 1):
        label = f"adamw {'amsgrad ' * amsgrad}{kind}"
        constants = (("DECAY", 1), ("AMSGRAD", amsgrad))
        plain = Handwritten("adam_step", (*constants, ("COUNTED", 0), ("PLACED", 0), *fixed), 8)
        yield label, plain, (*table, "*i64", *["fp32"] * 9)
        placed = Handwritten("adam_step", (*constants, ("COUNTED", 1), ("PLACED", 1), ("SCALED", 2), *fixed[1:]), 8)
        yield f"{label} by device", placed, ("*i64", *["*fp32"] * 3, *["fp32"] * 9)
    sgd = Handwritten("sgd_step", (("MOMENTUM", 1), ("NESTEROV", 1), *fixed), 8)
    yield f"sgd {kind}", sgd, (*table, *["fp32"] * 5)
    for name in ("adadelta", "adagrad", "adamax", "asgd", "nadam", "radam", "rprop", "rmsprop"):
        flags = 3 if name == "rmsprop" else int(name != "adagrad")
        kernel = Handwritten("rule_step", (("RULE", name), ("FLAGS", flags), ("DECAY", 2), *fixed), 8)
        yield f"{name} {kind}", kernel, (*table, *["fp32"] * 8)


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
