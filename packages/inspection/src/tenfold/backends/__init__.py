"""PyTorch's switches for its own libraries (`torch.backends`): programs that set them run, and nothing changes.

Tenfold's CPU kernels are deterministic and use none of these libraries; `tenfold.cuda` chooses its own kernels.
"""

from __future__ import annotations

from tenfold.backends import (
    cpu as cpu,
    cuda as cuda,
    cudnn as cudnn,
    mha as mha,
    mkl as mkl,
    mkldnn as mkldnn,
    mps as mps,
    openmp as openmp,
    opt_einsum as opt_einsum,
)
