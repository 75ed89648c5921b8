"""Networks that find where every pixel of one picture is in the next."""

from __future__ import annotations

from tenfold.vision.models.catalog.flow import Raft_Large_Weights, Raft_Small_Weights
from tenfold.vision.models.optical_flow.raft import RAFT, raft_large, raft_small

__all__ = ["RAFT", "Raft_Large_Weights", "Raft_Small_Weights", "raft_large", "raft_small"]
