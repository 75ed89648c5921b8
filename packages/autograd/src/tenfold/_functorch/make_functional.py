"""`torch._functorch.make_functional`: modules as functions of their tensors, under PyTorch's own path."""

from __future__ import annotations

from tenfold.autograd.make_functional import (
    FunctionalModule,
    FunctionalModuleWithBuffers,
    combine_state_for_ensemble,
    functional_init,
    functional_init_with_buffers,
    make_functional,
    make_functional_with_buffers,
)

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functional_init",
    "functional_init_with_buffers", "make_functional", "make_functional_with_buffers",
]  # fmt: skip
