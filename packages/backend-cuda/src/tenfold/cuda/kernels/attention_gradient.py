"""The gradients of attention: in two passes, to the queries and to the keys, or in one that adds to the queries.

Both begin with what a pass takes of each query. Two passes multiply 7 times and give the same bits each time; one multiplies 5
times, adds in float32 in any order, and rounds in the end, three launches as well (of float32, two).
"""

from __future__ import annotations

from typing import Any

from tenfold.cuda import cudnn_graphs, runtime, tuning
from tenfold.cuda.kernels.attention_tiles import launch
from tenfold.cuda.kernels.handwritten import F32, Handwritten, start
from tenfold.cuda.kernels.heads import Call, wide_of

SLOPE_ROWS = 16
BLOCK = 1024  # elements that a program rounds
ONE, TWO = (1,), (2,)  # passes, as tuning names them
ENOUGH = 512  # keys that a query sees on average, from which on one pass is the guess
TWO_PASSES: tuple[tuple[str, Any], ...] = (("ADDS", 0), ("add_ptr", None))
ROUNDED = Handwritten("attention_rounded", (("BLOCK", BLOCK),), by_address=True)
NOTHING_ADDED: tuple[tuple[str, Any], ...] = (("ADDS", 0), ("zero_ptr", None), ("E", 1), ("WIDE_E", 1))


def forms(call: Call) -> list[tuple[int, ...]]:
    """How many passes: a guess, then the other where it may be timed.

    One pass spares 2 of 7 products, 4 floating-point operations for each element of the query and key that it sees; at 400
    TFLOP/s 512 keys are 5 ps an element. For it the sums are zeroed, added to and read, of which 8 bytes at least go through
    memory, 2.4 ps an element. With more than 128 features blocks have 32 keys: four times as many additions, and two passes.
    """
    constants, keys = dict(call.constants), call.numbers[1]
    if cudnn_graphs.deterministic() or wide_of(constants) > 128:
        return [TWO]
    seen = keys // 2 if constants["CAUSAL"] else keys
    return [ONE, TWO] if seen >= ENOUGH else [TWO, ONE]


def gradients(call: Call | None, grad: Any, given: tuple[Any, Any, Any], output: Any, log_sum_exp: Any) -> Any:
    """The gradients of query, key and value; NotImplemented where there is no call."""
    query = given[0]
    if call is None or not grad.dtype == output.dtype == query.dtype or log_sum_exp.dtype != F32:
        return NotImplemented
    g, out, sums = call.lying(grad), call.lying(output), call.lying(log_sum_exp, 0)
    results = [call.empty(x, x.shape[-1], x.dtype, k > 0) for k, x in enumerate(given)]

    def run(form: tuple[int, ...]) -> None:
        (_in_one_pass if form == ONE else _in_two_passes)(call, results, g, out, sums)

    problem = (query.dtype.name, *call.constants, *call.numbers[:2], call.heads)
    tuning.run_chosen("attention_gradient", problem, forms(call), run, call.device)
    return tuple(results)


def _in_two_passes(call: Call, results: list[Any], g: Any, out: Any, sums: Any) -> None:
    kept = _of_queries(call, None, g, out, sums)
    launch("attention_to_queries", call, results[:1], (g,), kept)
    launch("attention_to_keys", call._replace(constants=(*TWO_PASSES, *call.constants)), results[1:], (g,), kept)


def _in_one_pass(call: Call, results: list[Any], g: Any, out: Any, sums: Any) -> None:
    to_queries = results[0]
    own = to_queries.dtype == F32  # the result is what is added to
    added = to_queries if own else runtime.current().empty(to_queries.shape, F32, call.device)  # its rows lie as those
    kept = _of_queries(call, added, g, out, sums)
    one = call._replace(constants=(("ADDS", 2 if own else 1), *call.constants))
    launch("attention_to_keys", one, (*results[1:], added), (g,), kept, lambda: added.fill(0))
    if not own:
        size = int(added.size)
        start(ROUNDED, (-(-size // BLOCK),), (to_queries, added, size, call.scale), call.device)


def _of_queries(call: Call, added: Any, g: Any, out: Any, sums: Any) -> tuple[Any, Any]:
    """(levels, what is added to every change of a query's scores); `added` is filled with zeros, if there is any."""
    level, less = (runtime.current().empty(sums.shape, F32, call.device) for _ in range(2))
    arrays = (level, less) if added is None else (level, less, added)
    start(
        slopes(dict(call.constants), added is not None),
        (-(-int(sums.size) // SLOPE_ROWS),),
        (*arrays, sums, g, out, int(sums.size)),
        call.device,
    )
    return level, less


def slopes(constants: dict[str, Any], adds: bool) -> Handwritten:
    """The program of what a pass takes of each query."""
    fixed = tuple((name, constants[name]) for name in (("V", "WIDE_V", "E", "WIDE_E") if adds else ("V", "WIDE_V")))
    given = (("ADDS", 1),) if adds else NOTHING_ADDED
    return Handwritten("attention_slopes", (*fixed, *given, ("ROWS", SLOPE_ROWS)), by_address=True)
