"""The kernels by hand of losses, dropout, group norm and recurrence, as resources.py measures them."""

from __future__ import annotations

from collections.abc import Iterator

from tenfold.cuda.kernels.alignments import program as alignment_program
from tenfold.cuda.kernels.all_pairs import program as pair_program
from tenfold.cuda.kernels.bags import MAXIMA, TILE as BAGS, tile as bag_tile
from tenfold.cuda.kernels.grouped_products import program as grouped_program, tile as grouped_tile
from tenfold.cuda.kernels.handwritten import LONG, TILE, Handwritten
from tenfold.cuda.kernels.margins import program as margin_program
from tenfold.cuda.kernels.scaled_products import program as block_program
from tenfold.cuda.kernels.scaling import program as scaled_program
from tenfold.cuda.kernels.soft_targets import program

Row = tuple[str, Handwritten, tuple[str, ...]]


def layers(kind: str) -> Iterator[Row]:
    """(label, kernel, its arguments' types) for one dtype."""
    p, s, i, f, double = "*" + kind, "*fp32", "i32", "fp32", ("DOUBLE", 0)
    picks = Handwritten("pick_losses", (("REDUCTION", 2), ("WEIGHT", 1), double, ("BLOCK", 256)))
    yield f"nll loss {kind}", picks, (p, s, s, "*i32", "*i32", p, "*i64", p, *[i] * 9)
    slope = Handwritten("pick_gradient", (("REDUCTION", 2), ("WEIGHT", 1), double, ("BIG", 0), ("BLOCK", 1024)), 8)
    yield f"nll loss gradient {kind}", slope, (p, p, "*i64", p, s, *[i] * 5)
    drop = Handwritten("drop_samples", (("SHIFTED", 1), double, ("PLACED", 0), ("BIG", 0), ("BLOCK", 1024)))
    yield f"dropout {kind}", drop, (p, "*i1", p, p, "u64", "u64", i, *[f] * 4)
    flags = ("WEIGHT", 1), ("BIAS", 1), double, ("SHARES", 64), ("BLOCK", 1024)
    yield f"group norm {kind}", Handwritten("group_norm", flags), (p, s, s, p, p, p, s, s, *[i] * 8, f)
    slopes = Handwritten("plane_slopes", (double, ("ROWS", 1), ("BLOCK", 1024)))
    yield f"group norm slopes {kind}", slopes, (s, s, p, p, s, s, *[i] * 5)
    gradient = Handwritten("group_norm_gradient", (("WEIGHT", 1), double, ("CHANNELS", 16), ("BLOCK", 1024)))
    yield f"group norm gradient {kind}", gradient, (p, p, p, s, s, p, s, s, *[i] * 5)
    long = (("CENTERED", 1), ("WEIGHT", 1), ("BIAS", 1), double, ("BLOCK", TILE))
    yield f"layer norm long {kind}", Handwritten("norm_long", long, 16), (p, s, s, p, p, p, i, i, f)
    back = (("CENTERED", 1), ("WEIGHT", 1), double, ("BLOCK", TILE))
    yield f"layer norm long gradient {kind}", Handwritten("norm_gradient_long", back, 16), (p, p, p, s, s, p, i, i)
    columns = ("LOG", 1), double, ("ROWS", 32), ("COLUMNS", 64)
    yield f"softmax columns {kind}", Handwritten("softmax_columns", columns), (p, p, i, i, i)
    yield f"softmax columns gradient {kind}", Handwritten("softmax_gradient_columns", columns), (p, p, p, i, i, i)
    totals = Handwritten("norm_totals", (("CENTERED", 1), double, ("ROWS", 128), ("COLUMNS", 8)))
    yield f"layer norm parameters' gradients {kind}", totals, (p, p, s, s, i, i)
    yield from recurrence(kind)
    yield from row_pairs(kind)
    yield from soft_targets(kind)
    yield from pairs_and_bags(kind)
    yield from grouped(kind)
    if kind == "fp32":
        yield from alignments()
        yield from eight_bits()


def recurrence(kind: str) -> Iterator[Row]:
    """One step of each recurrence, and its way back."""
    p, s, i, end = "*" + kind, "*fp32", "i32", (("DOUBLE", 0), ("BLOCK", 512))
    flags = ("BIAS", 1), ("KEPT", 1)
    lstm = Handwritten("lstm_step", (*flags, ("PROJECTED", 0), *end))
    yield f"lstm step {kind}", lstm, (p, s, s, p, p, s, s, p, p, p, i, i, i)
    back = Handwritten("lstm_step_back", (("PROJECTED", 0), *end))
    yield f"lstm step back {kind}", back, (p, s, p, s, p, s, s, s, p, i, i, i)
    yield f"gru step {kind}", Handwritten("gru_step", (*flags, *end)), (p, s, p, s, s, p, p, p, i, i)
    yield f"gru step back {kind}", Handwritten("gru_step_back", end), (p, s, p, s, p, p, i, i, i)
    yield f"rnn step {kind}", Handwritten("plain_step", (("RELU", 0), *flags, *end)), (p, p, s, p, p, i, i)
    yield f"rnn step back {kind}", Handwritten("plain_step_back", (("RELU", 0), *end)), (p, s, p, p, i)


def row_pairs(kind: str) -> Iterator[Row]:
    """Cosines of rows, and their gradients."""
    p, s, i, tile = "*" + kind, "*fp32", "i32", (("COSINE", 1), ("NORM", 2), ("DOUBLE", 0), ("ROWS", 1), ("BLOCK", 1024))
    yield f"cosine {kind}", Handwritten("row_pairs", tile), (p, s, p, p, i, i, "fp32", "fp32")
    yield f"cosine gradient {kind}", Handwritten("row_pairs_gradient", tile), (p, p, p, p, p, p, s, i, i, "fp32", "fp32")


def soft_targets(kind: str) -> Iterator[Row]:
    """Cross entropy with probabilities, and its gradient."""
    p, s, i = "*" + kind, "*fp32", "i32"
    found = program("soft_cross_entropy", 4096, 50257, False, True, True, "mean")[0]
    yield f"soft cross entropy {kind}", found, (p, s, s, s, "*i32", p, p, p, i, i, "fp32")
    slope = program("soft_cross_entropy_gradient", 4096, 50257, False, True, True, "mean")[0]
    yield f"soft cross entropy gradient {kind}", slope, (p, p, p, p, p, s, i, i, i, "fp32")


def pairs_and_bags(kind: str) -> Iterator[Row]:
    """Margins between scores, distances of all pairs, rows over their norms and bags of rows, each with its gradient."""
    p, s, i, index, f = "*" + kind, "*fp32", "i32", "*i64", "fp32"
    flags = {"REDUCTION": 2, "SQUARE": 0, "WEIGHT": 1, "DOUBLE": 0}
    margins = margin_program("class_margins", 4096, 1000, 1024, **flags)[0]
    yield f"margins {kind}", margins, (p, s, s, "*i32", "*i32", p, index, p, *[i] * 3, f)
    slopes = margin_program("class_margins_gradient", 4096, 1000, 1024, **flags)[0]
    yield f"margins gradient {kind}", slopes, (p, p, p, index, p, *[i] * 3, f)
    labels = margin_program("label_margins", 4096, 1000, LONG, REDUCTION=2, DOUBLE=0)[0]
    yield f"label margins {kind}", labels, (p, s, s, "*i32", "*i32", p, index, *[i] * 3)
    slopes = margin_program("label_margins_gradient", 4096, 1000, LONG, REDUCTION=2, DOUBLE=0)[0]
    yield f"label margins gradient {kind}", slopes, (p, p, p, index, *[i] * 3)
    for norm in (2.0, 3.0):
        found = pair_program("distances", 1024, 1024, 128, norm, False, False)
        yield f"distances {norm:.0f} {kind}", found, (p, p, p, *[i] * 5, f)
        found = pair_program("distances_gradient", 1024, 1024, 128, norm, False, False)
        yield f"distances gradient {norm:.0f} {kind}", found, (p, p, p, p, p, *[i] * 10, f)
    for strided in (False, True):
        label = f"{'columns' if strided else 'rows'} {kind}"
        found = scaled_program("scaled_rows", "unit", 2.0, 4096, 768, strided, False)[0]
        yield f"scaled {label}", found, (p, s, p, *[i] * 9, f, f)
        found = scaled_program("scaled_rows_gradient", "unit", 2.0, 4096, 768, strided, False)[0]
        yield f"scaled gradient {label}", found, (p, p, p, s, *[i] * 12, f, f)
    fixed = ("DOUBLE", 0), ("BLOCK", 1024)
    yield f"response norm {kind}", Handwritten("response_norm", fixed), (p, s, p, *[i] * 4, f, f, f)
    yield f"response norm gradient {kind}", Handwritten("response_norm_gradient", fixed), (p, p, p, s, *[i] * 4, f, f)
    flags_of_bags = ("OFFSETS", 1), ("ENDS", 0), ("FACTORS", 0), ("DOUBLE", 0)
    for name, mode, size in (("mean", 1, BAGS), ("max", 2, MAXIMA)):
        found = Handwritten("bags", (("MODE", mode), *flags_of_bags, *bag_tile(1024, 32 * 1024, 128, size)))
        yield f"bags {name} {kind}", found, (p, index, index, "*i32", p, index, index, p, *[i] * 8)
    found = Handwritten("bags_gradient", (("MODE", 1), ("OFTEN", 0), *flags_of_bags, *bag_tile(1024, 32 * 1024, 128)))
    yield f"bags gradient {kind}", found, (s, p, index, index, index, index, p, *[i] * 6)


def grouped(kind: str) -> Iterator[Row]:
    """Products of slices: of rows of a few lengths on average, with weights as a layer's transposed ones lie, and of sums."""
    p, i = "*" + kind, "i32"
    single = kind == "fp32"
    for rows in (16, 64, 1024):
        shape = grouped_tile(rows, single)
        flags = {"A_UNIT": 1, "B_UNIT": 1, "O_UNIT": 1, "ALIGNED": 1, "EIGHT": 0, "GROUPS": 128}
        found = grouped_program("grouped_rows", shape, "ieee", **flags)
        yield f"grouped rows {shape[0]} {kind}", found, (p, p, p, "*i32", p, p, *[i] * 11)
        if single:
            break
    sums = grouped_program("grouped_sums", grouped_tile(1024, single), "ieee", A_UNIT=2, B_UNIT=2, ALIGNED=1, EIGHT=0)
    yield f"grouped sums {kind}", sums, (p, p, p, "*i32", p, p, *[i] * 7)


def eight_bits() -> Iterator[Row]:
    """Products of 8-bit floats, weights as a layer's transposed ones lie: with scales of blocks, of slices, of sums in slices."""
    out, p, scales, i = "*bf16", "*u8", "*fp32", "i32"
    for rows in (16, 64, 1024):
        flags = {"A_UNIT": 1, "B_UNIT": 1, "ALIGNED": 1, "A_KIND": 1, "B_KIND": 1, "A_HIGH": 1, "B_WIDE": 128, "BIASED": 0}
        yield f"scaled blocks {rows}", block_program(rows, **flags), (out, p, p, scales, scales, out, *[i] * 11)
        units = {"A_UNIT": 1, "B_UNIT": 1, "O_UNIT": 1, "ALIGNED": 1, "EIGHT": 1, "GROUPS": 128}
        found = grouped_program("grouped_rows", grouped_tile(rows, False, True), "ieee", **units)
        yield f"grouped rows {rows} of 8 bits", found, (out, p, p, "*i32", scales, scales, *[i] * 11)
    sums = grouped_program("grouped_sums", grouped_tile(1024, False, True), "ieee", A_UNIT=1, B_UNIT=1, ALIGNED=1, EIGHT=1)
    yield "grouped sums of 8 bits", sums, (out, p, p, "*i32", scales, scales, *[i] * 7)


def alignments() -> Iterator[Row]:
    """Connectionist temporal classification of paths of 511 places, in float32."""
    p, index, i = "*fp32", "*i64", "i32"
    kept = (p, index, index, index)
    alpha = alignment_program("ctc_alpha", 511, False, ZERO_INFINITY=0)
    yield "ctc alpha fp32", alpha, (p, p, "*i32", *kept, *[i] * 8)
    yield "ctc posterior fp32", alignment_program("ctc_posterior", 511, False), (p, p, "*i32", p, p, *kept, *[i] * 8)
    gradient = alignment_program("ctc_gradient", 1024, False, ZERO_INFINITY=0, LABELS=256)
    yield "ctc gradient fp32", gradient, (p, p, p, p, p, *kept, *[i] * 8)
