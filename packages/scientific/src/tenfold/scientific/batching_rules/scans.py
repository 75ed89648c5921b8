"""Scans under vmap."""

from __future__ import annotations

from tenfold.autograd.batching import batching_by_name
from tenfold.autograd.batching_rules.kinds import reduction

batching_by_name("logcumsumexp cummax_pair cummin_pair", reduction)
