"""The kernels of lists of tensors, draws, ranges, masks, windows and pairs whose resources resources.py measures."""

from __future__ import annotations

from collections.abc import Iterator

from tenfold.cuda.kernels.adjoints import BLOCK as ADJOINED
from tenfold.cuda.kernels.all_pairs import BLOCK as OF_PAIRS
from tenfold.cuda.kernels.bags import TILE as BAGS, tile as bag_tile
from tenfold.cuda.kernels.counted_steps import COUNTED
from tenfold.cuda.kernels.handwritten import Handwritten, tiled
from tenfold.cuda.kernels.joining import BLOCK as ROLL
from tenfold.cuda.kernels.many import PARTS
from tenfold.cuda.kernels.masks import BLOCK as MASKED
from tenfold.cuda.kernels.multi_tensor import PIECE
from tenfold.cuda.kernels.norm import COLUMNS, ROWS
from tenfold.cuda.kernels.planes import window_constants
from tenfold.cuda.kernels.pool import BLOCK as POOLED
from tenfold.cuda.kernels.resize import BLOCK as RESIZED
from tenfold.cuda.kernels.scattering import BLOCK as KEYED
from tenfold.cuda.kernels.strided import BLOCK as REGIONS
from tenfold.cuda.ranges import BLOCK as RANGED, FILLS
from tenfold.cuda.sampling import BLOCK as DRAWN

Row = tuple[str, Handwritten, tuple[str, ...]]
NARROW = 768  # features of GPT-2's layers


def lists(kind: str) -> Iterator[Row]:
    """Gradients that are scaled, clipped and measured together, statistics, parameters' gradients, maxima that are spread."""
    p, s, table, i, f, double = "*" + kind, "*fp32", "*i64", "i32", "fp32", ("DOUBLE", 0)
    known = ("KIND", kind), double, ("BLOCK", PIECE)
    yield f"unscale lists {kind}", Handwritten("unscale_many", known, 8), (table, s, s)
    yield f"clip lists {kind}", Handwritten("clip_many", known, 8), (table, p, f)
    yield f"norms of lists {kind}", Handwritten("norms_of_pieces", (("ORDER", 2), *known), 8), (table, s)
    yield f"norm of lists {kind}", Handwritten("norm_of_parts", (("ORDER", 2), ("BLOCK", PARTS))), (p, s, i)
    of_each = Handwritten("norm_of_each", (("ORDER", 2), ("KIND", kind), ("BLOCK", PARTS)))
    yield f"norms of each {kind}", of_each, (table, s, "*i64")
    statistics = Handwritten("follow_statistics", (("MEAN", 1), ("VAR", 1), double, ("BLOCK", PARTS)))
    yield f"running statistics {kind}", statistics, (p, p, s, s, i, f, f)
    sums = Handwritten("norm_parameters", (("CENTERED", 1), double, ("ROWS", ROWS), ("COLUMNS", COLUMNS)))
    yield f"layer norm parameters {kind}", sums, (p, p, p, p, s, s, i, i, i)
    planes = Handwritten("plane_parameters", (double, ("ROWS", 32), ("COLUMNS", 32)))
    yield f"group norm parameters {kind}", planes, (p, p, s, s, i, i)
    yield f"softmax gradient {kind} {NARROW}", tiled("softmax_gradient_rows", 4096, NARROW, False, LOG=0)[0], (p, p, p, i, i)
    largest = Handwritten("bag_maxima_gradient", (double, ("BLOCK", BAGS // 2)))
    yield f"bags max gradient {kind}", largest, (s, p, table, i, i)
    bags = Handwritten("bag_factors_gradient", (("OFFSETS", 1), ("ENDS", 0), double, *bag_tile(1024, 32 * 1024, 128)))
    yield f"bags factors gradient {kind}", bags, (p, p, p, table, table, *[i] * 6)
    pooled = (double, ("LAST", 1), ("WIDE", 0), ("TAPS_D", 1), ("TAPS_H", 7), ("TAPS_W", 7), ("BLOCK", POOLED))
    adaptive = Handwritten("largest_of_adaptive_windows", pooled, 4, by_address=True)
    yield f"adaptive max pool {kind}", adaptive, (p, table, p, *[i] * 13)
    spread = Handwritten("spread_largest", (double, ("BLOCK", POOLED)), by_address=True)
    yield f"max pool gradient {kind}", spread, (s, p, table, *[i] * 3)


def pairs() -> Iterator[Row]:
    """Distances by products, and what their gradients are made of."""
    s, i, double = "*fp32", "i32", ("DOUBLE", 0)
    whole = Handwritten("distances_of_products", (double, ("BLOCK", OF_PAIRS)))
    yield "distances of products fp32", whole, (s, s, s, s, i, i, i)
    tile = (double, ("ROWS", 1), ("BLOCK", OF_PAIRS))
    yield "squares of rows fp32", Handwritten("squares_of_rows", tile), (s, s, i, i)
    yield "shares of distances fp32", Handwritten("shares_of_distances", tile), (s, s, s, s, *[i] * 8)


def numbers() -> Iterator[Row]:
    """Draws, ranges, keys, masks, borders and columns of windows, counters of steps and the scale of losses."""
    s, words, long, i, f, word = "*fp32", "*i32", "*i64", "i32", "fp32", "u64"
    yield "zero lists", Handwritten("zero_many", (("KIND", "i32"), ("BLOCK", PIECE)), 8), (long,)
    yield "count of steps", Handwritten("count_steps", (("SCALED", 1), ("STEP", "fp32"), ("BLOCK", COUNTED))), (long, s, i)
    yield "next scale", Handwritten("next_scale", ()), (s, words, s, f, f, i)
    yield "words placed", Handwritten("place_words", ()), (long, word, word)
    yield "words noted", Handwritten("note_words", (("PLACED", 1),)), (long, long, word, word)
    for label, law in (("normal", 1), ("Cauchy", 4)):
        drawn = Handwritten("draw_samples", (("LAW", law), ("DOUBLE", 0), ("PLACED", 0), ("BLOCK", DRAWN)))
        yield f"draws {label}", drawn, (s, s, word, word, i, f, f)
    chosen = Handwritten("draw_by_chances", (("DOUBLE", 0), ("PLACED", 0), ("BLOCK", DRAWN)))
    yield "draws by chances", chosen, (s, s, word, word, i, s, words, i)
    for wide in (0, 1):
        drawn = Handwritten("draw_integers", (("WIDE", wide), ("PLACED", 0), ("BLOCK", DRAWN)))
        yield f"draws of integers{' wide' * wide}", drawn, (long, long, word, word, i, word, word)
    for label, whole, out in (("whole numbers", 1, long), ("numbers", 0, s)):
        made = Handwritten("ranges", (("WHOLE", whole), ("DOUBLE", 1), ("BLOCK", RANGED)))
        yield f"range of {label}", made, (out, *[i] * 6, *["fp64"] * 4)
    yield "filled", FILLS, ("*u32", i, word)
    yield "identity", Handwritten("identity", (("BLOCK", RANGED),)), (s, i, i)
    for back in (0, 1):
        keys = Handwritten("keys_of_numbers", (("BACK", back), ("LEAST", 0), ("BLOCK", KEYED)))
        yield f"{'numbers of keys' if back else 'keys of numbers'}", keys, (words, s, i)
    scattered = Handwritten("scatter_masked", (("BLOCK", MASKED),), 4, by_address=True)
    yield "masked scatter", scattered, (words, words, words, "*i8", long, words, i, i, i)
    chosen = Handwritten("place_chosen", (("DIMS", 2), ("BLOCK", MASKED)), 4, by_address=True)
    yield "places that are not zero", chosen, (long, long, *[i] * 6)
    border = Handwritten("with_border", (("LAST", 0), ("BLOCK", RESIZED)), 4, by_address=True)
    yield "border", border, (words, words, *[i] * 17)
    window = window_constants((3, 3), (1, 1), (1, 1), (1, 1))
    columns = Handwritten("columns_of_blocks", (*window, ("BLOCK", RESIZED)), 4, by_address=True)
    yield "columns of blocks", columns, (words, words, *[i] * 13)
    yield from adjoints()


def adjoints() -> Iterator[Row]:
    """Gradients of views, masks, complex sizes and cumulative products, and dimensions that are rolled."""
    s, words, i = "*fp32", "*i32", "i32"
    for kind in (s, "*bf16"):
        fixed = (("DIMS", 3), ("WIDE", 0), ("DOUBLE", 0), ("BLOCK", REGIONS))
        regions = Handwritten("sums_of_regions", fixed, 4, by_address=True)
        yield f"sums of regions {kind[1:]}", regions, (kind, kind, *[i] * 23)
    masked = Handwritten("elements_of_mask", (("BLOCK", ADJOINED),), by_address=True)
    yield "elements of a mask", masked, (words, words, "*i8", "*i64", i, i)
    signs = Handwritten("signs_of_pairs", (("GRAD", 1), ("BLOCK", ADJOINED)), by_address=True)
    yield "signs of complex numbers", signs, (s, s, s, i)
    products = Handwritten("slopes_of_products", (("DOUBLE", 0), ("ROWS", 8), ("BLOCK", 256)), by_address=True)
    yield "slopes of cumulative products", products, (s, s, s, i, i, i)
    rolled = Handwritten("rolled", (("DIMS", 4), ("WIDE", 0), ("BLOCK", ROLL)), 4, by_address=True)
    yield "rolled dimensions", rolled, (words, words, *[i] * 11)
