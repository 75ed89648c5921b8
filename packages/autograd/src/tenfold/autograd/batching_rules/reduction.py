"""Reductions, scans and orderings along dimensions, under vmap and forward mode."""

from __future__ import annotations

from tenfold.autograd.batching import batching_by_name
from tenfold.autograd.batching_rules.kinds import reduction
from tenfold.autograd.tangents import LINEAR, jvp_by_name

batching_by_name(
    "sum prod amax amin max_dim min_dim all any count_nonzero argmax argmin sort_pair topk_pair kthvalue_pair cumsum cumprod "
    "logcumsumexp cummax_pair cummin_pair logsumexp median_pair nanmedian_pair mode_pair var std var_mean std_mean norm",
    reduction,
)
jvp_by_name("sum cumsum", LINEAR)
