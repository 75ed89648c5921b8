"""PyTorch's switches for its own libraries (`torch.backends`): programs that set them run, and nothing changes.

Tenfold's CPU kernels are deterministic and use none of these libraries; `tenfold.cuda` chooses its own kernels.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

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
from tenfold.backends._precisions import Generic, choose
from tenfold.inspection.precision import OWN


def set_flags(_fp32_precision: str | None = "none") -> tuple[str]:
    """Set in what all libraries compute float32, if it is given; what it was before."""
    before = OWN["generic"]
    if _fp32_precision is not None:
        choose("generic", _fp32_precision)
    return (before,)


@contextlib.contextmanager
def flags(fp32_precision: str = "none") -> Iterator[None]:
    """A context in which all libraries compute float32 so.

    >>> import tenfold
    >>> with flags("tf32"):
    ...     tenfold.backends.fp32_precision
    'tf32'
    """
    before = set_flags(fp32_precision)
    try:
        yield
    finally:
        set_flags(*before)


sys.modules[__name__].__class__ = Generic
