"""Attention and its gradients by cuDNN, where it is installed and `backends.cuda.enable_cudnn_sdp` allows it.

Half precision, up to 128 features a head, no mask but the causal one, no dropout; everything else is kernels/attention.py's.
"""

from __future__ import annotations

import sys
from typing import Any

from tenfold.cuda import cudnn_graphs, runtime
from tenfold.cuda.kernels.handwritten import F32, contiguous
from tenfold.cuda.kernels.heads import fit, groups_of, heads_of, rows_of

TYPES = {"float16": "HALF", "bfloat16": "BFLOAT16"}
MOST, MULTIPLE = 128, 8  # features of a head, and what they and all distances are multiples of
Q, K, V, OUT, SUMS, GRAD, OF_Q, OF_K, OF_V = range(1, 10)  # the numbers of a graph's tensors


def _library() -> Any:
    set_by = sys.modules.get("tenfold.backends.cuda")
    return None if set_by is not None and not set_by.cudnn_sdp_enabled() else cudnn_graphs.wanted()


def _heads(query: Any, key: Any, value: Any) -> list[Any] | None:
    """q, k and v as (batch, head, T, E), keys of groups once for each group; None for what cuDNN is not asked to do."""
    if _library() is None or query.dtype.name not in TYPES or not fit(query, key, value):
        return None
    if any(n > MOST or n % MULTIPLE for n in (query.shape[-1], value.shape[-1])):
        return None
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return None
    query, key, value, _ = groups_of(query, key, value)
    arrays = [heads_of(x).array for x in (query, key, value)]
    for x in arrays:
        if runtime.current().pointer(x) % cudnn_graphs.ALIGNMENT or any(s % (MULTIPLE * x.itemsize) for s in x.strides[:3]):
            return None
    return arrays


def _tensor(graph: Any, x: Any, kind: Any, number: int) -> Any:
    found = graph.tensor(dim=list(x.shape), stride=[s // x.dtype.itemsize for s in x.strides], data_type=kind)
    found.set_uid(number)
    return found


def _as_result(tensor: Any, x: Any, kind: Any, number: int) -> None:
    strides = [s // x.dtype.itemsize for s in x.strides]
    tensor.set_output(True).set_dim(list(x.shape)).set_stride(strides).set_data_type(kind).set_uid(number)


def _run(kind: str, given: dict[int, Any], results: dict[int, Any], options: dict[str, Any], draw: Any) -> bool:
    """Run the graph of a problem; False where cuDNN has none. Arrays by the numbers of the graph's tensors."""
    library, first = _library(), given[Q]
    index = runtime.current().index_of(first)
    types = library.data_type
    kinds = {n: types.FLOAT if x.dtype == F32 else getattr(types, TYPES[x.dtype.name]) for n, x in (given | results).items()}
    key = (kind, first.dtype, index, tuple((n, x.shape, x.strides) for n, x in (given | results).items()), *options.items())

    def make(graph: Any) -> None:
        drawn = draw(graph, {n: _tensor(graph, x, kinds[n], n) for n, x in given.items()})
        for tensor, (n, x) in zip(drawn, results.items()):
            _as_result(tensor, x, kinds[n], n)

    found = cudnn_graphs.graph(library, key, index, make, kinds[Q], ())
    if found is None:
        return False
    pointer = runtime.current().pointer
    found.run({n: pointer(x) for n, x in (given | results).items()})
    return True


def _factor(query: Any, scale: float | None) -> float:
    return float(max(1, query.shape[-1]) ** -0.5 if scale is None else scale)


def attended(query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float | None) -> Any:
    """(the result, the log-sum-exp); None where cuDNN does not do it."""
    arrays = None if mask is not None else _heads(query, key, value)
    if arrays is None:
        return None
    now, (q, k, v) = runtime.current(), arrays
    index = now.index_of(q)
    out = rows_of(q, q.shape[1]).empty((*q.shape[:-1], v.shape[-1]), q.dtype, index)
    sums = now.empty((*q.shape[:-1], 1), F32, index)
    options = {"attn_scale": _factor(query, scale), "use_causal_mask": bool(is_causal)}

    def draw(graph: Any, tensors: dict[int, Any]) -> Any:
        return graph.sdpa(q=tensors[Q], k=tensors[K], v=tensors[V], generate_stats=True, **options)

    if not _run("attend", {Q: q, K: k, V: v}, {OUT: out, SUMS: sums}, options, draw):
        return None
    return out.reshape(*query.shape[:-1], value.shape[-1]), sums.reshape(query.shape[:-1])


def gradients(
    grad: Any, given: tuple[Any, Any, Any], output: Any, sums: Any, mask: Any, is_causal: bool, scale: float | None
) -> Any:
    """The gradients of query, key and value; None where cuDNN does not compute them."""
    query = given[0]
    arrays = None if mask is not None or not grad.dtype == output.dtype == query.dtype else _heads(*given)
    if arrays is None or sums.dtype != F32:
        return None
    now, (q, k, v) = runtime.current(), arrays
    if k.shape[1] != q.shape[1]:  # keys of groups: their gradients would be summed already
        return None
    index = now.index_of(q)
    rows, sums = rows_of(q, q.shape[1]), contiguous(sums).reshape(*q.shape[:-1], 1)
    g, out = (rows.turned(rows.lying(x)).reshape(*q.shape[:-1], v.shape[-1]) for x in (grad, output))
    results = {n: rows_of(x, x.shape[1]).empty(x.shape, x.dtype, index) for n, x in ((OF_Q, q), (OF_K, k), (OF_V, v))}
    options = {
        "attn_scale": _factor(query, scale), "use_causal_mask": bool(is_causal),
        "use_deterministic_algorithm": cudnn_graphs.deterministic(),
    }  # fmt: skip

    def draw(graph: Any, tensors: dict[int, Any]) -> Any:
        names = zip(("q", "k", "v", "o", "dO", "stats"), (Q, K, V, OUT, GRAD, SUMS))
        return graph.sdpa_backward(**{name: tensors[n] for name, n in names}, **options)

    taken = {Q: q, K: k, V: v, OUT: out, GRAD: g, SUMS: sums}
    if not _run("attention gradients", taken, results, options, draw):
        return None
    return tuple(found.reshape(x.shape) for found, x in zip(results.values(), given))
