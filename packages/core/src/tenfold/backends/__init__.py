"""PyTorch's switches for its own libraries (`torch.backends`): programs that set them run, and nothing changes.

Tenfold's CPU kernels are deterministic and use none of these libraries; `tenfold.cuda` chooses its own kernels.
"""

from __future__ import annotations

from types import SimpleNamespace


class _Switches(SimpleNamespace):
    """A library that is not there, with its switches as PyTorch has them."""

    def is_available(self) -> bool:
        """Whether the library is there: never."""
        return False

    def is_built(self) -> bool:
        """Whether Tenfold was built with the library: never."""
        return False


cudnn = _Switches(enabled=False, benchmark=False, deterministic=True, allow_tf32=False, benchmark_limit=10)
mps = _Switches()
mkl = _Switches()
mkldnn = _Switches(enabled=False)
openmp = _Switches()
cuda = _Switches(matmul=SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True))
