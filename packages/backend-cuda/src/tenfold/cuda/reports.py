"""What kernels find wrong while they run, such as an index that is out of bounds: told at the next wait for the GPU.

A kernel writes to words of pinned host memory; the host reads them after it has waited for the device anyway, which costs
nothing. A check that waited for the answer would stop every step of training several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import AcceleratorError

# A word each: what the operator of that word has to say.
WORDS = (
    "index", "index_put", "gather", "scatter", "cross_entropy", "varlen_attn", "lu_unpack", "embedding", "histc", "nll_loss",
    "multi_margin_loss", "multilabel_margin_loss", "embedding_bag", "offsets",
    "multinomial", "ctc_loss", "masked_scatter", "bernoulli",
)  # fmt: skip
WRONG_STARTS = (
    "cu_seq_q, cu_seq_k, seqused_k or block_table given to varlen_attn was wrong: starts rise from 0 and end inside "
    "of the tensors, and pages are some that there are"
)
OTHERS = {
    "varlen_attn": WRONG_STARTS,
    "histc": "the numbers given to histc have a range that is not finite",
    "offsets": "the offsets given to embedding_bag were wrong: the first is 0, and the last is at most the number of indices",
    "masked_scatter": "the source given to masked_scatter has fewer elements than places where the mask holds",
    "bernoulli": "the probabilities given to bernoulli contain an element outside [0, 1]",
    "multinomial": "the probability tensor given to multinomial contains either `inf`, `nan` or element < 0, or a row that "
    "sums to 0",
}
_state: dict[str, Any] = {}


def words(now: Any) -> Any:
    """The reports as an array of a runtime, which kernels take as an argument."""
    found = _state.get("words")
    if found is None or _state["runtime"] is not now:
        found = now.shared_words(len(WORDS))
        _state.update(words=found, runtime=now, host=now.on_host(found))
    return found


def check() -> None:
    """AcceleratorError if a kernel has reported something; to be called after a wait for the device."""
    host = _state.get("host")
    if host is None or not host.any():
        return
    found = [WORDS[k] for k in np.flatnonzero(host)]
    host[:] = 0
    indexed = ", ".join(name for name in found if name not in OTHERS)
    wrong = [f"an index given to {indexed} was out of bounds"] * bool(indexed) + [
        OTHERS[name] for name in found if name in OTHERS
    ]
    raise AcceleratorError(
        f"CUDA error: device-side assert triggered: {'; '.join(wrong)}. The device found it while it ran, so this is told at the "
        "first wait after it, and results since then are not to be used. Run on the CPU, or wait with tenfold.cuda.synchronize() "
        "after each step, to see which call it was"
    )
