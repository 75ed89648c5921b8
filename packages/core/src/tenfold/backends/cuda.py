"""Switches of CUDA's libraries; `tenfold.cuda` chooses its own kernels."""

from types import SimpleNamespace

from tenfold.backends._absent import is_built

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
)

__all__ = ["is_built"]
