"""Attention of a few queries to many keys: the keys are dealt out to programs, whose results a second launch merges.

Of queries beside each other (attention.py), and of sequences of different lengths, with keys in order or in pages (varlen.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.cuda import reports, runtime, tuning
from tenfold.cuda.kernels.handwritten import F32, Handwritten, start
from tenfold.cuda.kernels.heads import Call, wide_of
from tenfold.cuda.kernels.planes import power

FEW = 16  # queries
ROWS = 64  # queries times heads of a group that a program has at most
FEWEST = 256  # keys of a share
PROGRAMS = 2 * 132  # two for each multiprocessor of the largest GPUs
MERGED = 512  # elements of rows that a program of the merging has at a time


class Pages(NamedTuple):
    """Where the keys of sequences lie: row b of `table` names the pages of sequence b."""

    table: Any  # (sequences, pages of each), int32, rows in one piece
    size: int  # keys of a page
    pages: int  # that there are
    code: int  # of what reports a page that there is not


def serves(call: Call, queries: int, keys: int, is_causal: bool) -> bool:
    """Whether the queries are few, and the keys so many that it is worth while."""
    few = queries <= FEW and queries * dict(zip(("heads", "group"), call.numbers[2:4]))["group"] <= ROWS
    return few and keys >= 2 * FEWEST and not is_causal and not dict(call.constants)["DROPS"]


def attended(call: Call, query: Any, value_width: int, pages: Pages | None = None) -> Any:
    """The result and the log-sum-exp of a call of attention.py or varlen.py."""
    now, constants = runtime.current(), dict(call.constants)
    table = bool(constants["TABLE"])
    out = now.empty((*query.shape[:-1], value_width), query.dtype, call.device)
    sums = now.empty(query.shape[:-1], F32, call.device)
    queries, keys, all_heads, group = call.numbers[:4]
    heads = all_heads // group
    sequences = call.heads // all_heads
    steps = call.numbers[4:13]
    if table:
        masks, factor, window = (0,) * 4, call.numbers[13], call.numbers[14:]
    else:
        masks, factor, window = call.numbers[13:17], call.numbers[17], (0, 0)
    of_pages = (0, 0, 0, 0) if pages is None else (pages.size, pages.pages, pages.table.shape[1], pages.code)
    arrays = [*call.arrays[:3], None if table else call.arrays[3], call.arrays[3] if table else None]
    arrays += [None, None] if pages is None else [pages.table, reports.words(now)]
    given = [query if x is None else x for x in arrays]
    fixed = (
        ("TABLE", int(table)), ("PAGED", int(pages is not None)),
        *((name, constants[name]) for name in ("CAUSAL", "BEHIND", "MASK", "ALIGNED", "PRECISION", "E", "V", "WIDE_E", "WIDE_V")),
    )  # fmt: skip
    rows_of_all = sums.size

    def run(tile: tuple[int, ...]) -> None:
        rows, columns, warps, stages = tile
        blocks = sequences * heads * -(-queries * group // rows)
        shares, share = dealt(keys, blocks, columns)
        final = shares == 1 and not table
        parts, part_sums = out, sums
        if not final:
            parts = now.empty((shares, rows_of_all, value_width), F32, call.device)
            part_sums = now.empty((shares, rows_of_all), F32, call.device)
        program = Handwritten(
            "attend_share", (*fixed, ("FINAL", int(final)), ("ROWS", rows), ("COLUMNS", columns)), warps, stages, True
        )
        numbers = (queries, keys, heads, group, share, rows_of_all, *of_pages, *steps, *masks, factor, *window)
        start(program, (blocks, shares), (parts, part_sums, *given, *numbers), call.device)
        if final:
            return
        each = max(1, MERGED // constants["WIDE_V"])
        most = queries * all_heads if table else rows_of_all
        ends = (("TABLE", int(table)), ("V", value_width), ("WIDE_V", constants["WIDE_V"]), ("ROWS", each))
        grid = (-(-most // each) * (sequences + 1 if table else 1),)
        merged = (out, sums, parts, part_sums, given[4], sequences if table else 1, all_heads, most, shares, rows_of_all)
        start(Handwritten("merge_shares", ends, 4, by_address=True), grid, merged, call.device)

    name = query.dtype.name
    problem = (name, *fixed[:5], constants["WIDE_E"], constants["WIDE_V"], queries * group, keys, call.heads // group)
    tuning.run_chosen("attend_share", problem, tiles(query.dtype, wide_of(constants), queries * group), run, call.device)
    return out, sums


def dealt(keys: int, blocks: int, columns: int) -> tuple[int, int]:
    """(shares of the keys for so many programs without it, keys of one): enough of them to busy a GPU."""
    shares = max(1, min(-(-PROGRAMS // blocks), keys // FEWEST))
    share = -(-keys // (shares * columns)) * columns
    return -(-keys // share), share


def tiles(dtype: Any, wide: int, rows: int) -> list[tuple[int, int, int, int]]:
    """(rows, keys, warps, stages) of a program's block: a guess first, then others."""
    most = power(rows, 16, ROWS)
    if dtype == F32:
        return [(16, 32, 4, 1) if wide <= 128 else (16, 16, 4, 1)]
    if wide > 256:
        return [(min(most, 32), 32, 4, 2)]
    if wide > 128:
        return [(min(most, 32), 32, 4, 3), (min(most, 32), 64, 4, 2), (most, 64, 8, 2)]
    warps = 8 if most * wide > 4096 else 4
    return [(most, 64, warps, 3), (most, 128, warps, 2), (most, 32, 4, 4), (16, 64, 2, 4), (most, 128, 8, 3)]
