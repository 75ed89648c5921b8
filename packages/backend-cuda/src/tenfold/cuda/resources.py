"""Registers, spilled bytes and shared memory of the kernels written by hand: `python -m tenfold.cuda.resources`.

Compiled on any machine with Triton; the numbers are the assembler's. A spilled byte is one of a thread's private memory.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tenfold.cuda.compilation import compile_for, options_of
from tenfold.cuda.kernels.attention import NO_TABLE, weights_program
from tenfold.cuda.kernels.attention_gradient import ROUNDED, TWO_PASSES, slopes
from tenfold.cuda.kernels.attention_tiles import program_of
from tenfold.cuda.kernels.conv import rests
from tenfold.cuda.kernels.decoding import MERGED, tiles as shares_of_keys
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.kernels.handwritten import Handwritten, dealt, shared_out, tiled
from tenfold.cuda.kernels.linalg import STEPS
from tenfold.cuda.kernels.multi_tensor import PIECE
from tenfold.cuda.kernels.norm import with_parameters
from tenfold.cuda.kernels.planes import window_constants
from tenfold.cuda.kernels.pool import BLOCK as POOLED
from tenfold.cuda.kernels.varlen import LANES, NO_MASK, NO_POINTERS
from tenfold.cuda.resources_of_arrays import orders, places, reductions, regions
from tenfold.cuda.resources_of_layers import layers
from tenfold.cuda.resources_of_lists import lists, numbers, pairs
from tenfold.cuda.solver import LANES as FOLLOWED
from tenfold.types.dtypes import BY_NAME

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
        both = with_parameters(4096, NARROW, False, CENTERED=1, WEIGHT=1)[0]
        yield f"layer norm gradients {kind} {NARROW}", both, (p, s, s, p, p, s, s, p, *two, "i32")
        yield f"softmax gradient {kind} {WIDE}", dealt("softmax_gradient", 4096, WIDE, False, LOG=1)[0], (p, p, p, *two)
        yield from steps(kind)
        yield from planes(kind)
        yield from orders(kind)
        yield from reductions(kind)
        yield from layers(kind)
        yield from regions(kind)
        yield from lists(kind)
    yield from pairs()
    yield from numbers()
    table = Handwritten("sequence_table", (("USED", 1), ("BLOCK", LANES)), by_address=True)
    yield "table of sequences", table, (*["*i32"] * 5, *["i32"] * 6)
    exchanges = Handwritten("exchange_rows", (("LANES", FOLLOWED),), 1)
    yield "exchanges of rows", exchanges, (index, words, *["i32"] * 4)
    for paired, log in ((0, 0), (0, 1), (1, 1)):
        determinants = Handwritten("determinants", (("PAIRED", paired), ("LOG", log), ("BLOCK", STEPS)))
        yield f"determinants{' complex' * paired}{' logarithms' * log}", determinants, (*["*fp32"] * 3, *["*i32"] * 2, "i32")
    yield from places()
    weights = Handwritten("check_weights", (("BLOCK", 8192),), 8)
    yield "check of weights", weights, (words, "*fp32", "i32", "i32")
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
        for counted in (0, 1)[: 1 if name == "adagrad" else 2]:
            rule = (("RULE", name), ("FLAGS", flags), ("DECAY", 2), ("COUNTED", counted), *fixed)
            yield f"{name} {kind}{' by device' * counted}", Handwritten("rule_step", rule, 8), (*table, *["fp32"] * 8)
    for what, others in (("lerp", 1), ("addcdiv", 2)):
        many = Handwritten("change_many", (("WHAT", what), ("OTHERS", others), *fixed[1:]), 8)
        yield f"{what} of lists {kind}", many, (table[0], "fp32", "fp32")


def planes(kind: str) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Pooling by windows of 3 and batch norm, of planes whose channels are last, as ResNet has them."""
    p, s, i = "*" + kind, "*fp32", "i32"
    window = window_constants((3, 3), (2, 2), (1, 1), (1, 1))
    fixed = (("DOUBLE", 0), ("LAST", 1))
    shape = (*window, ("BLOCK", POOLED))
    largest = Handwritten("largest_of_windows", (*fixed, *shape), 4, by_address=True)
    yield f"max pool {kind}", largest, (p, "*i64", p, *[i] * 13)
    means = Handwritten("means_of_windows", (("GRADIENT", 0), ("PADS", 1), *fixed, *shape), 4, by_address=True)
    yield f"average pool {kind}", means, (p, p, *[i] * 14)
    taps = (("WIDE", 0), ("TAPS_D", 1), ("TAPS_H", 7), ("TAPS_W", 7), ("BLOCK", POOLED))
    adaptive = Handwritten("adaptive_means", (("GRADIENT", 0), *fixed, *taps), 4, by_address=True)
    yield f"adaptive average pool {kind}", adaptive, (p, p, *[i] * 13)
    spots = (*fixed, ("TAPS_D", 1), ("TAPS_H", 2), ("TAPS_W", 2), ("TWO", 1), ("BLOCK", POOLED))
    fractional = Handwritten("largest_of_fractional_windows", spots, 4, by_address=True)
    yield f"fractional max pool {kind}", fractional, (p, "*i64", p, p, *[i] * 13)
    tile, affine, shares = (
        (("UNIT", 1), ("DOUBLE", 0), ("ROWS", 32), ("COLUMNS", 32)),
        (("WEIGHT", 1), ("BIAS", 1)),
        ("SHARES", 64),
    )
    yield f"batch norm moments {kind}", Handwritten("channel_moments", tile, 8, by_address=True), (s, s, p, *[i] * 7)
    norm = Handwritten("channel_norm", (*affine, ("GIVEN", 0), shares, *tile), 8, by_address=True)
    yield f"batch norm {kind}", norm, (p, s, s, s, p, s, s, s, s, *[i] * 12, "fp32")
    slopes = Handwritten("channel_slopes", tile, 8, by_address=True)
    yield f"batch norm slopes {kind}", slopes, (s, s, p, p, s, s, *[i] * 10)
    gradient = Handwritten("channel_norm_gradient", (("WEIGHT", 1), ("TRAINING", 1), shares, *tile), 8, by_address=True)
    yield f"batch norm gradient {kind}", gradient, (p, s, s, p, p, s, s, s, s, s, *[i] * 14)


def products() -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """The kernels of matrix units, which take the longest to compile: attention and convolution in bfloat16."""
    p, s, i, half = "*bf16", "*fp32", "i32", BY_NAME["bfloat16"].numpy
    given = {
        "attend": (p, s, p, p, p, p, "*i64"), "attention_to_queries": (p, p, p, p, p, p, "*i64", s, s),
        "attention_to_keys": (p, p, p, p, p, p, p, "*i64", s, s),
        "attention_in_one_pass": (p, p, s, p, p, p, p, p, "*i64", s, s),
    }  # fmt: skip
    passes = {"attention_to_keys": TWO_PASSES, "attention_in_one_pass": (("ADDS", 1),)}

    def places_of(kernel: Handwritten) -> list[str]:
        return [i] * (6 if kernel.name == "attention_to_keys" else 3)  # of queries, and of keys

    for features in (64, 128):
        ends = ("ALIGNED", 1), ("PRECISION", "ieee"), *((name, features) for name in ("E", "V", "WIDE_E", "WIDE_V"))
        for drops in (0, 1):
            fixed = (("CAUSAL", 1), ("MASK", 0), ("DROPS", drops), *NO_TABLE, *ends)
            for name, pointers in given.items():
                label = f"{name.replace('_', ' ')} bf16 {features}{' dropout' * drops}"
                kernel = program_of(name.replace("in_one_pass", "to_keys"), (*passes.get(name, ()), *fixed), half)
                yield label, kernel, (*pointers, *[i] * 17, "fp32", i, "fp32", *places_of(kernel))
            fixed = (("CAUSAL", 0), ("MASK", 1), ("DROPS", drops), *NO_TABLE, *ends)
            kernel = weights_program(fixed, half, True)
            label = f"attention weights bf16 {features}{' dropout' * drops}"
            yield label, kernel, (p, s, p, p, p, "*i1", "*i64", *[i] * 17, "fp32", i, "fp32", i, i, i)
        for behind in (0, 1):
            fixed = (("CAUSAL", 1), ("BEHIND", behind), ("TABLE", 1), *NO_MASK, *NO_POINTERS, *ends)
            for name, pointers in given.items():
                label = f"{name.replace('_', ' ')} bf16 {features} sequences{' window' * behind}"
                place = pointers.index("*i64")
                kinds = (*pointers[: place - 1], "*i32", *pointers[place + 1 :])  # a table, no mask and no words of dropout
                kernel = program_of(name.replace("in_one_pass", "to_keys"), (*passes.get(name, ()), *fixed), half)
                yield label, kernel, (*kinds, *[i] * 13, "fp32", i, i, *places_of(kernel))
        for adds in (0, 1):
            kernel = slopes(dict(ends), bool(adds))
            yield f"attention slopes bf16 {features}{' zeros' * adds}", kernel, (s, s, *[s] * adds, s, p, p, i)
        yield from decodings(features)
    yield "attention rounded bf16", ROUNDED, (p, s, i, "fp32")
    window = window_constants((3, 3), (1, 1), (1, 1), (1, 1))
    for flat, unit in ((0, 1), (1, 0)):
        end = (("PRECISION", "ieee"), *window, *rests(window), ("ROWS", 64 if flat else 128), ("COLUMNS", 64), ("INNER", 32))
        known = (("BIAS", 1), ("TRANSPOSED", 0), ("FLAT", flat), *zip(("UNIT", "UNIT_W", "LAST", "ALIGNED"), (unit,) * 4), *end)
        kernel = Handwritten("correlate", known, 4, 3, True)
        yield f"convolution bf16 {'few channels' if flat else 'channels last'}", kernel, (p, p, p, p, *[i] * 24)
    apart = window_constants((3, 3), (2, 2), (1, 1), (1, 1))
    known = (("BIAS", 0), ("TRANSPOSED", 1), ("FLAT", 0), ("UNIT", 1), ("UNIT_W", 2), ("LAST", 1), ("ALIGNED", 1))
    tile = (("ROWS", 128), ("COLUMNS", 64), ("INNER", 32))
    kernel = Handwritten("correlate", (*known, ("PRECISION", "ieee"), *apart, *rests(apart), *tile), 4, 3, True)
    yield "convolution bf16 transposed by steps of 2", kernel, (p, p, p, p, *[i] * 24)
    tile = (("ROWS", 64), ("COLUMNS", 64), ("INNER", 32))
    flags = (("UNIT", 1), ("ALIGNED", 1), ("PRECISION", "ieee"))
    kernel = Handwritten("correlate_windows", (*flags, *window, *tile), 4, 3, True)
    yield "convolution windows bf16", kernel, (s, p, p, *[i] * 21)


def decodings(features: int) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Attention of few queries to many keys, in one piece and in pages, and the merging."""
    p, s, i = "*bf16", "*fp32", "i32"
    (rows, columns, warps, stages), *_ = shares_of_keys(BY_NAME["bfloat16"].numpy, features, 16)
    ends = (("ALIGNED", 1), ("PRECISION", "ieee"), *((name, features) for name in ("E", "V", "WIDE_E", "WIDE_V")))
    for paged in (0, 1):
        kinds = (("TABLE", paged), ("PAGED", paged), ("FINAL", 0), ("CAUSAL", paged), ("BEHIND", 0), ("MASK", 0))
        kernel = Handwritten("attend_share", (*kinds, *ends, ("ROWS", rows), ("COLUMNS", columns)), warps, stages, True)
        arrays = (s, s, p, p, p, p, "*i32", "*i32", "*i32")
        yield f"attend share bf16 {features}{' pages' * paged}", kernel, (*arrays, *[i] * 23, "fp32", i, i)
    constants = (("TABLE", 1), ("V", features), ("WIDE_V", features), ("ROWS", max(1, MERGED // features)))
    merging = Handwritten("merge_shares", constants, 4, by_address=True)
    yield f"merge shares bf16 {features}", merging, (p, s, s, s, "*i32", *[i] * 5)


def fingerprint(kernel: Handwritten, signature: tuple[str, ...]) -> str:
    """Changes with the text of a kernel's module, its constants, arguments and options: what was measured of it is then stale."""
    text = Path(inspect.getfile(kernel.function(None))).read_bytes()
    return hashlib.sha256(text + repr((kernel, signature, options_of(kernel))).encode()).hexdigest()[:12]


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


def narrow_loads(capability: int, kernel: Handwritten, signature: tuple[str, ...]) -> int:
    """Loads of two bytes: where there are some, the compiler did not see what lies in a row, and memory is read at an eighth."""
    compiled = compile_for(capability, kernel, signature, [i for i, kind in enumerate(signature) if kind[0] == "*"])
    return len(re.findall(r"ld\.global\S*\.b16", compiled.asm["ptx"]))


def main() -> None:
    """Print the table, a row for each kernel and capability: comma-separated, as the tests keep it for a version of Triton.

    With `--products` that of the kernels of matrix units, whose rows have besides the narrow loads. `--keep FILE`: rows of that
    table whose text is still that of their kernel are not measured anew.
    """
    parser = argparse.ArgumentParser(prog="python -m tenfold.cuda.resources", description=__doc__.splitlines()[0])
    parser.add_argument("--products", action="store_true", help="the kernels of matrix units")
    parser.add_argument("--keep", type=Path, help="a table, of which the rows that are not stale are taken")
    options = parser.parse_args()
    known: dict[tuple[str, str, str], str] = {}
    if options.keep is not None and options.keep.exists():
        for line in options.keep.read_text().splitlines()[1:]:
            label, capability, *_, text = line.split(",")
            known[label, capability, text] = line
    print("kernel,capability,registers,spilled,shared" + ",narrow" * options.products + ",text")
    for capability in CAPABILITIES:
        for label, kernel, signature in products() if options.products else kernels():
            text = fingerprint(kernel, signature)
            line = known.get((label, str(capability), text), "")
            if not line:
                row = [label, capability, *measured(capability, kernel, signature)]
                row += [narrow_loads(capability, kernel, signature)] if options.products else []
                line = ",".join(map(str, [*row, text]))
            print(line, flush=True)


if __name__ == "__main__":
    main()
