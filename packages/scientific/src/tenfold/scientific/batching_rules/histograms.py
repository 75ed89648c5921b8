"""Histograms under vmap."""

from __future__ import annotations

from tenfold.autograd.batching import batching, examples
from tenfold.dispatch.operators import op

batching(op.histc)(examples)
