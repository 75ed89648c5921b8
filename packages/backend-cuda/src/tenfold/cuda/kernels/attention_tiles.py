"""Which blocks attention's programs have, and their launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold.cuda import tuning
from tenfold.cuda.kernels.handwritten import F32, Handwritten, start
from tenfold.cuda.kernels.heads import Call, wide_of

UNITS = 16  # rows and columns at least of a product by matrix units


def tiles(name: str, call: tuple[tuple[str, Any], ...], dtype: Any) -> list[tuple[int, ...]]:
    """(queries, keys, warps, stages) of a program's block, what its shared memory and registers hold: a guess, then others.

    A fifth number is how many registers a thread may have at most, so that two programs fit a multiprocessor where one would:
    while one makes exponentials, the other's products run. Each 4 warps multiply 64 rows, of queries or of what is summed.
    """
    constants = dict(call)
    wide = wide_of(constants)
    if dtype == F32:
        return _of_floats(name, wide)
    if wide > 256:
        # The last is for GPUs with 99 KiB (shared_memory.py): 32 keys take 112 in "attention_to_keys".
        return [(32, 32, 8, 1)] if name == "attend" else [(16, 32, 8, 1), (16, 16, 8, 1)]
    plain = not constants["DROPS"]  # random bits take registers
    if name == "attend":
        if wide > 128:
            return [(64, 32, 8, 2), (64, 64, 8, 1), (32, 64, 4, 2)]
        if wide > 64:
            return [(128, 64, 8, 2), (128, 128, 8, 2), (128, 64, 8, 3), (64, 64, 4, 2), (128, 32, 4, 3)]
        first = (128, 64, 8, 3, 128) if plain else (128, 64, 8, 3)
        return [first, (128, 128, 8, 2), (64, 64, 4, 3), (128, 64, 4, 3), (128, 32, 4, 3)]
    return _of_gradients(name, constants, wide)


def _of_floats(name: str, wide: int) -> list[tuple[int, ...]]:
    """Not by tensor cores: large ones take long to compile."""
    if wide <= 128:
        return [(32, 32, 4, 1)]
    # Gradients of more than 256 features take 128 KiB, and behind it 96, for GPUs that have 99 (shared_memory.py).
    smaller = {"attention_to_queries": (8, 16, 4, 1), "attention_to_keys": (16, 8, 4, 1)} if wide > 256 else {}
    return [(16, 16, 4, 1), *([smaller[name]] if name in smaller else ())]


def _of_gradients(name: str, constants: dict[str, Any], wide: int) -> list[tuple[int, ...]]:
    if wide > 128:
        return [(32, 32, 8, 1), (32, 64, 8, 1), (64, 32, 8, 1)]
    # Without a limit the assembler gives some of these for 8.0 but 32 or 128 registers, and spills thousands of bytes.
    if constants["DROPS"] and constants.get("ADDS"):
        return [(64, 64, 8, 2, 255), (64, 128, 8, 2, 255), (64, 64, 8, 1, 255)]
    if constants["DROPS"]:
        return [(64, 64, 8, 2, 255), (128, 64, 8, 2), (64, 128, 8, 2), (64, 64, 8, 1)]
    if constants.get("ADDS"):
        # 128 keys, so that half as much is added to queries as with 64: what is left of the registers holds 64 queries.
        if wide > 64:
            return [(64, 128, 8, 2, 255), (64, 64, 8, 2, 255), (64, 128, 8, 1, 255), (64, 64, 4, 1)]
        return [(64, 128, 8, 2), (64, 64, 4, 2), (64, 128, 8, 3), (128, 128, 8, 2), (64, 64, 4, 1)]
    if name == "attention_to_queries":
        if wide > 64:
            return [(128, 64, 8, 2), (64, 64, 8, 2), (64, 64, 4, 2), (128, 32, 8, 2)]
        return [(64, 64, 4, 2), (128, 64, 8, 2, 128), (128, 64, 8, 3), (128, 128, 8, 2), (64, 64, 4, 1)]
    if wide > 64:
        return [(64, 128, 8, 2, 255), (32, 128, 8, 2, 255), (64, 64, 8, 2, 255), (64, 64, 4, 2)]
    return [(64, 64, 4, 2), (64, 128, 8, 2), (128, 128, 8, 2), (32, 64, 4, 2), (64, 64, 4, 1)]


def program_of(name: str, constants: tuple[tuple[str, Any], ...], dtype: Any, tile: tuple[int, ...] | None = None) -> Handwritten:
    """The program with its block's sizes."""
    rows, columns, warps, stages, *registers = tile or tiles(name, constants, dtype)[0]
    if min(rows, columns) < UNITS:  # padded to what the matrix units multiply, it would take the memory of a larger block
        constants = tuple((word, "ieee" if word == "PRECISION" else value) for word, value in constants)
    return Handwritten(name, (*constants, ("ROWS", rows), ("COLUMNS", columns)), warps, stages, True, *registers)


def launch(
    name: str,
    call: Call,
    results: Sequence[Any],
    given: tuple[Any, ...],
    more: tuple[Any, ...],
    clear: Callable[[], Any] | None = None,
) -> None:
    """Run a program for each block of queries, or of keys, of each head.

    `clear`: fills what the program adds to with zeros, after it has been run to be timed.
    """
    dtype, (queries, keys, *_) = call.arrays[0].dtype, call.numbers
    timed = False

    def run(tile: tuple[int, ...]) -> None:
        nonlocal timed
        timed = True
        program = program_of(name, call.constants, dtype, tile)
        blocks = -(-keys // tile[1]) if name == "attention_to_keys" else -(-queries // tile[0])
        places = call.places if name == "attention_to_keys" else call.places[:3]
        start(program, (blocks * call.heads,), (*results, *given, *call.arrays, *more, *call.numbers, *places), call.device)

    def last(tile: tuple[int, ...]) -> None:
        if timed and clear is not None:
            clear()
        run(tile)

    problem = (dtype.name, *call.constants, queries, keys, call.heads)
    tuning.run_chosen(name, problem, tiles(name, call.constants, dtype), run, call.device, last)
