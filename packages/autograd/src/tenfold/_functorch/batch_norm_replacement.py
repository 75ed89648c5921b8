"""`torch._functorch.batch_norm_replacement`: batch norms without running statistics, which vmap cannot write."""

from __future__ import annotations

from tenfold.autograd.unwrapping import replace_all_batch_norm_modules_

__all__ = ["replace_all_batch_norm_modules_"]
