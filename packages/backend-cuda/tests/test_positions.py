"""Programs' places in 32 bits: `tl.program_id` times a block overflows from 2**31 elements on, unless what launches bounds them.

A kernel that widens its place (`.to(tl.int64)`) needs no row here. One that does not is listed beside what keeps it below 2**31.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tenfold.cuda import kernels

PROGRAMS = Path(kernels.__file__).with_name("programs")
BOUNDED = {
    "rows_of refuses more rows": (
        "cross_entropy_gradient cross_entropy_long cross_entropy_rows norm_gradient_long norm_gradients norm_long "
        "norm_parameters norm_rows norm_totals soft_cross_entropy soft_cross_entropy_gradient softmax_gradient_rows "
        "softmax_rows sum_by_the_last class_margins class_margins_gradient label_margins label_margins_gradient"
    ),
    "activation.py refuses longer dimensions": "softmax_columns softmax_gradient_columns",
    "adjoints.py refuses more elements": "slopes_of_products",
    "all_pairs.py refuses more rows and features": "distances distances_gradient shares_of_distances squares_of_rows",
    "attention's work is the square of its lengths": (
        "attend attend_share attention_to_keys attention_to_queries attention_weights merge_shares sequence_table"
    ),
    "bags.py refuses more bags and wider rows": "bag_factors_gradient bags bags_gradient",
    "batch_norm.py refuses more elements": (
        "channel_moments channel_norm channel_norm_gradient channel_slopes follow_statistics"
    ),
    "conv.py refuses more elements": "correlate correlate_group_windows correlate_groups correlate_windows",
    "distance.py and scaling.py refuse more rows": "row_pairs row_pairs_gradient scaled_rows scaled_rows_gradient",
    "fold.py, grid.py, pool.py and resize.py refuse more elements": (
        "adaptive_means blocks_of_columns columns_of_blocks largest_of_adaptive_windows largest_of_fractional_windows "
        "largest_of_windows means_of_windows sample_places sums_of_places"
    ),
    "group_norm.py refuses more planes": "group_norm group_norm_gradient plane_parameters plane_slopes",
    "grouped_products.py and scaled_products.py refuse more elements": "grouped_rows grouped_sums scaled_blocks",
    "nll.py refuses more positions": "pick_losses",
    "places.py refuses more rows": "rows_at",
    "rnn.py refuses larger states": "gru_step gru_step_back lstm_step lstm_step_back plain_step plain_step_back",
    "sorting.py refuses more rows and elements of a row": "merge_tiles select_rows sort_tiles",
    "vectors.py refuses more elements": "cross_products",
    "their sizes' type is the place's": "join_rows segments_multiplied segments_reduced triangle",
    "the program's number alone, or that of a share": "drop_samples norms_of_pieces reduction scan total_by_the_last",
    "a list of parameters is short": "count_steps",
    "what others are made of": "tile_of",
}


def places(function):
    """Where a function asks for its program's number, and does not widen it at once."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    wide = {id(c.func.value) for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "to"}
    return [c for c in calls if id(c) not in wide and ast.unparse(c.func) in ("tl.program_id", "tile_of")]


def test_places_of_32_bits_are_bounded_by_what_launches():
    functions = [f for p in PROGRAMS.glob("*.py") for f in ast.parse(p.read_text()).body if isinstance(f, ast.FunctionDef)]
    found = {f.name for f in functions if places(f)}
    known = [name for names in BOUNDED.values() for name in names.split()]
    assert len(set(known)) == len(known)
    assert sorted(found - set(known)) == [], "widen with .to(tl.int64), or bound what is launched and list the kernel here"
    assert sorted(set(known) - found) == [], "these have no such places any more"


def test_a_place_that_is_not_widened_is_found():
    text = "def f(): return tl.program_id(0) * BLOCK\ndef g(): return tl.program_id(0).to(tl.int64) * BLOCK"
    assert [bool(places(f)) for f in ast.parse(text).body] == [True, False]
