"""`torch._inductor`, PyTorch's writer of kernels: there is none here, and its settings can be set."""

from __future__ import annotations

from types import SimpleNamespace

from tenfold.as_torch.stand_ins.absent import show

config = show(
    f"{__name__}.config",
    {
        "coordinate_descent_tuning": False,
        "cpp": SimpleNamespace(threads=-1),
        "epilogue_fusion": True,
        "force_fuse_int_mm_with_mul": False,
        "fx_graph_cache": True,
        "max_autotune": False,
        "triton": SimpleNamespace(unique_kernel_names=True, cudagraphs=False),
    },
)
