"""Factories that follow another tensor's shape, under vmap: an in-place write may then differ between the examples."""

from __future__ import annotations

from tenfold.autograd.batching import batching_by_name
from tenfold.autograd.batching_rules.kinds import like

batching_by_name("zeros_like ones_like empty_like full_like", like)
