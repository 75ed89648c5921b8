"""The kernels of indexing, sorting, reductions and sampling whose resources resources.py measures."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tenfold.cuda.kernels.folds import Fold, Plan as FoldPlan
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.kernels.handwritten import Handwritten
from tenfold.cuda.kernels.places import plan as placed
from tenfold.cuda.kernels.planes import window_constants
from tenfold.cuda.kernels.pool import BLOCK as POOLED
from tenfold.cuda.kernels.scanning import Plan as ScanPlan, Scan
from tenfold.cuda.kernels.sorting import SELECTED, key_constants
from tenfold.cuda.kernels.stacks import FINITE
from tenfold.types.dtypes import BY_NAME

NARROW = 768  # features of GPT-2's layers


def places() -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Rows and elements at places, what meets at one place, joined arrays, triangles, counts: 8192 indices of GPT-2's table."""
    V, N, D = 50257, 8192, NARROW
    long, i = "*i64", "i32"
    looked_up = ("take", (N, D), (2 * D, 2), (0, 2), (2 * D,), (V,), (((8, 0), 8),), (2, 2), ("", ""))
    summed = ("add", (N, D), (2 * D, 2), (0, 4), (4 * D,), (V,), (((8, 0), 8),), (2, 4), ("*bf16", "*fp32"))
    gathered = ("take", (N, D), (4 * D, 4), (4 * V, 0), (4,), (V,), (((8 * D, 8), 8),), (4, 4), ("", ""))
    greatest = ("max", (N, D), (4 * D, 4), (4 * V, 0), (4,), (V,), (((8 * D, 8), 8),), (4, 4), ("*fp32", "*i32"))
    called = {"embedding": looked_up, "embedding gradient": summed, "gather": gathered, "scatter amax": greatest}
    for label, described in called.items():
        kernel, _, pair, _, kinds = placed(*described, False, None, False, 16)
        yield label, kernel, ("*i32", *pair, long, long, long, i, *kinds)
    tile = (("UNIT", 2), ("ROWS", 4), ("BLOCK", 512))
    yield "cat of eight", Handwritten("join_rows", tile, by_address=True), (long,) * 9 + ("i64",) * 25
    lower = (("LOWER", 1), ("APART", 0), ("UNIT", 8), ("ROWS", 8), ("BLOCK", 256))
    yield "tril bf16", Handwritten("triangle", lower, by_address=True), ("*i16", "*i16", *[i] * 7)
    for reduce, order in (("sum", 1), ("amax", 0)):
        flags = (("REDUCE", reduce), ("KIND", "fp32"), ("ORDERED", order), ("START", 2 * order), ("DOUBLE", 0), ("UNIT", 8))
        program = Handwritten("segments_reduced", (*flags, ("SEGMENTS", 4), ("ROWS", 4), ("BLOCK", 256)))
        yield f"segments {reduce}", program, ("*fp32", "*bf16", long, long, *[i] * 4, "fp32", "fp32")
    multiplied = Handwritten("segments_multiplied", (("OWN", 1), ("SEGMENTS", 1), ("BLOCK", 256)))
    yield "segments prod complex64", multiplied, ("*fp32", "*fp32", long, long, i, i)
    counted = Handwritten("histogram", (("RANGE", 1), ("SPARE", 128), ("BLOCK", BLOCK)))
    yield "histc", counted, (long, "*fp32", "*fp64", "*i32", *[i] * 4)


def orders(kind: str) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Sorting and merging of rows, selection, search and runs of equal elements; in float32 also the pairs of 64 bits."""
    i, place, log = "i32", "*i64", 10  # networks of more elements are slow to compile
    for dtype in ("float32", "float64") if kind == "fp32" else ("bfloat16",):
        key = key_constants(BY_NAME[dtype].numpy)
        size, shift = key[-1][1], 16 if dtype == "bfloat16" else 32
        x, word = f"*u{size}", f"*u{max(size, 2 * shift)}"
        fixed = (("INDEXED", 0), *key, ("SHIFT", shift), ("DESCENDING", 1), ("UNIT", 1), ("LOG_ROWS", 0), ("LOG", log))
        tile = Handwritten("sort_tiles", (("RANK", 0), ("FINAL", 1), *fixed), by_address=True)
        yield f"sort {dtype} {1 << log}", tile, (word, "*u32", x, place, x, place, *[i] * 12)
        fixed = (("INDEXED", 0), ("BITS", size), ("SHIFT", shift), ("LOG", log))
        merge = Handwritten("merge_tiles", (("FINAL", 1), *fixed), by_address=True)
        yield f"merge {dtype} {1 << log}", merge, (word, "*u32", x, place, word, "*u32", x, place, *[i] * 13)
        fixed = (("RANK", 0), ("INDEXED", 0), *key, ("DESCENDING", 1), ("UNIT", 1), ("BLOCK", SELECTED))
        select = Handwritten("select_rows", fixed, 16, by_address=True)
        yield f"select {dtype}", select, (x, place, x, place, *[i] * 10)
    flags = (("RIGHT", 0), ("BATCHED", 1), ("WIDE", 0), ("BLOCK", BLOCK))
    yield f"search {kind}", Handwritten("search_rows", flags, by_address=True), (place, f"*{kind}", f"*{kind}", *[i] * 4)
    runs = (*key, ("BLOCK", BLOCK))
    yield f"modes {kind}", Handwritten("mode_rows", runs, by_address=True), (x, place, x, place, i)
    if kind == "bf16":
        return
    yield "runs", Handwritten("mark_runs", (*key, ("SAME", 0), ("BLOCK", BLOCK)), by_address=True), ("*i32", x, i, i)
    placed = Handwritten("place_runs", (("ORDERED", 0), ("BLOCK", BLOCK)), by_address=True)
    yield "places of runs", placed, (place, place, "*i32", place, i, i)
    yield "ranks", Handwritten("rank_rows", (("BLOCK", BLOCK),), by_address=True), (place, "*i32", place, i, i)
    yield "middle of rows", Handwritten("middle_of_rows", (("SKIP", 0), *key)), (x, place, x, place, i, i)


class _Described:
    """A row-major array that is not there, of which a plan is made."""

    def __init__(self, kind: str, *shape: int) -> None:
        self.dtype = BY_NAME["bfloat16" if kind == "bf16" else "float32"].numpy
        self.shape, self.ndim, self.size = shape, len(shape), prod(shape)
        self.strides = tuple(self.dtype.itemsize * prod(shape[d + 1 :]) for d in range(len(shape)))


def reductions(kind: str) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Reductions and scans of rows, and of columns that programs share."""
    p, s, i, index = "*" + kind, "*fp32", "i32", "*i64"
    x = _Described(kind, 1 << 20, 64)
    chosen = {
        "sum": (Fold("sum"), p, p, s, s), "variance": (Fold("moments", end="variance"), p, p, s, s),
        "max": (Fold("top", end="value", at=1), p, index, "*i32", "*i32"), "logsumexp": (Fold("powers"), p, p, s, s),
        "range": (Fold("range"), p, p, "*i32", "*i32"),
    }  # fmt: skip
    if kind == "fp32":
        chosen["complex product"] = (Fold("complex product", paired=1), p, p, s, s)
    for name, (fold, out, second, part, more) in chosen.items():
        for label, dim in (("rows", 1), ("columns", 0)):
            kernel = FoldPlan(fold, x, (dim,), False, 1.0, 1.0).kernel
            kinds = (out, second, p, part, more, "*i32") if dim == 0 else (out, second, p, *[out] * 3)
            yield f"{name} of {label} {kind}", kernel, (*kinds, *[i] * 14, "fp32", "fp32")
    for name, second, part, more in (("sum", p, s, s), ("greater", index, s, "*i32"), ("powers", p, s, s)):
        kernel = ScanPlan(Scan(name), x, 0).kernels[1]
        yield f"scan {name} of columns {kind}", kernel, (p, second, p, part, more, *[i] * 13)
    if kind == "fp32":
        kernel = ScanPlan(Scan("complex powers"), x, 0).kernels[1]
        yield "scan complex powers of columns", kernel, (p, p, p, "*fp64", "*fp64", *[i] * 13)


def regions(kind: str) -> Iterator[tuple[str, Handwritten, tuple[str, ...]]]:
    """Depthwise convolution by windows of 3, resampling, borders, blocks and sampling at places."""
    p, s, i, block = "*" + kind, "*fp32", "i32", ("BLOCK", POOLED)
    window = window_constants((3, 3), (1, 1), (1, 1), (1, 1))
    fixed = (("BIAS", 1), ("TRANSPOSED", 0), ("DOUBLE", 0), ("LAST", 1))
    groups = Handwritten("correlate_groups", (*fixed, *window, block), 4, by_address=True)
    yield f"depthwise convolution {kind}", groups, (p, p, p, p, *[i] * 20)
    tile = (("ROWS", 4), ("CHANNELS", 32), ("TAPS", 16))
    windows = Handwritten("correlate_group_windows", (("DOUBLE", 0), *window, *tile), 4, by_address=True)
    yield f"depthwise windows {kind}", windows, (s, p, p, *[i] * 21)
    sums = Handwritten("sums_of_places", (("WEIGHTS", 1), ("KIND", 0), ("LAST", 0), block), 4, by_address=True)
    yield f"resampling {kind}", sums, (p, p, "*i32", s, *[i] * 16)
    blocks = Handwritten("blocks_of_columns", (("DOUBLE", 0), *window, block), 4, by_address=True)
    yield f"blocks of columns {kind}", blocks, (p, p, *[i] * 11)
    options = (("DIMENSIONS", 2), ("MODE", 0), ("PADDING", 0), ("ALIGN", 0), ("DOUBLE", 0), ("BLOCK", 128))
    for what, name in enumerate(("values", "of planes", "of places")):
        out = s if what == 1 else p
        sampled = Handwritten("sample_places", (("WHAT", what), *options), 4, by_address=True)
        yield f"sampling {name} {kind}", sampled, (out, out, out if what == 1 else p, p, p, *[i] * 14)
    mapped = Handwritten("affine_places", (("DIMENSIONS", 3), ("ALIGN", 0), ("DOUBLE", 0), ("BLOCK", 128)), 4, by_address=True)
    yield f"affine places {kind}", mapped, (p, p, *[i] * 5)
    crossed = Handwritten("cross_products", (("DOUBLE", 0), ("BLOCK", 256)), 4, by_address=True)
    yield f"vector products {kind}", crossed, (p, p, p, *[i] * 8)
    if kind == "fp32":
        finite = Handwritten("finite_matrices", (("TRIANGLE", 1), ("ACROSS", 0), ("BLOCK", FINITE)), 8)
        yield "matrices that are finite", finite, (p, "*i32", p, i, i, i)
