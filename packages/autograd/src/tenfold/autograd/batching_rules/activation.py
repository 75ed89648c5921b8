"""Softmax and other activations along a dimension, under vmap; the elementwise ones are known by their shape rule."""

from __future__ import annotations

from tenfold.autograd.batching import batching_by_name
from tenfold.autograd.batching_rules.kinds import pointwise, reduction
from tenfold.autograd.tangents import ELEMENTWISE, jvp_by_name

batching_by_name("softmax log_softmax", reduction)
batching_by_name("relu threshold_backward", pointwise)
jvp_by_name("relu threshold_backward", ELEMENTWISE)
