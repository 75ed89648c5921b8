"""PyTorch's `torch.cuda.comm`: the functions of several devices under their earlier address. They are in tenfold-nn."""

from __future__ import annotations

from importlib import import_module

_functions = import_module("tenfold.nn.parallel.comm")  # which says what to install where tenfold-nn is missing
broadcast, broadcast_coalesced = _functions.broadcast, _functions.broadcast_coalesced
reduce_add, reduce_add_coalesced = _functions.reduce_add, _functions.reduce_add_coalesced
scatter, gather = _functions.scatter, _functions.gather

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
