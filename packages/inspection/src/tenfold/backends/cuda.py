"""Switches of CUDA's libraries; `tenfold.cuda` chooses its own kernels."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tenfold.backends._attention import (
    SDPAParams,
    can_use_cudnn_attention,
    can_use_efficient_attention,
    can_use_flash_attention,
)
from tenfold.backends._precisions import choose, resolved
from tenfold.backends._transforms import cuFFTPlanCache, cuFFTPlanCacheManager
from tenfold.inspection.precision import get_float32_matmul_precision, set_float32_matmul_precision


def is_built() -> bool:
    """Whether the device "cuda" is installed: tenfold-backend-cuda and a CuPy, whether there is a GPU or not.

    >>> import tenfold
    >>> is_built() == (tenfold.version.cuda is not None)
    True
    """
    from tenfold.version import cuda  # when asked: it looks through what is installed

    return cuda is not None


class _Products:
    """How products of matrices may be rounded; TensorFloat-32 is one switch with `set_float32_matmul_precision`."""

    def __init__(self) -> None:
        vars(self).update(
            allow_fp16_reduced_precision_reduction=True,
            allow_bf16_reduced_precision_reduction=True,
            allow_fp16_accumulation=False,
        )

    def __getattr__(self, name: str) -> Any:  # what is not kept here
        if name not in ("allow_tf32", "fp32_precision"):
            raise AttributeError(f"Unknown attribute {name}")
        return get_float32_matmul_precision() != "highest" if name == "allow_tf32" else resolved("matmul")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            vars(self)[name] = value
            return
        if name == "allow_tf32":
            if not isinstance(value, bool):
                raise RuntimeError(f"set_allow_tf32_cublas expects a bool, but got {type(value).__name__}")
        elif name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        else:
            choose("matmul", value)
            return
        set_float32_matmul_precision("high" if value else "highest")


cuBLASModule = _Products
matmul = _Products()
cufft_plan_cache = cuFFTPlanCacheManager()
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def _question(kind: str) -> Callable[[], bool]:
    def enabled() -> bool:
        """Whether programs want attention computed in this way; the result is the same in each."""
        return _attention[kind]

    return enabled


def _switch(kind: str) -> Callable[[bool], None]:
    def enable(enabled: bool) -> None:
        """Say whether attention may be computed in this way; the result is the same in each."""
        _attention[kind] = enabled

    return enable


flash_sdp_enabled, enable_flash_sdp = _question("flash"), _switch("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _question("mem_efficient"), _switch("mem_efficient")
math_sdp_enabled, enable_math_sdp = _question("math"), _switch("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _question("cudnn"), _switch("cudnn")


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A context in which attention may be computed in these ways."""
    before = dict(_attention)
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _attention.update(before)


def _preference(what: str, names: tuple[str, ...]) -> Callable[[str | None], str]:
    chosen = {"now": names[0]}

    def preferred(backend: str | None = None) -> str:
        """The CUDA library that programs prefer, set first if one is named; `tenfold.cuda` chooses for itself."""
        if backend is not None:
            if str(backend).lower() not in names:
                raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
            chosen["now"] = str(backend).lower()
        return chosen["now"]

    preferred.__name__ = preferred.__qualname__ = what
    return preferred


preferred_linalg_library = _preference("preferred_linalg_library", ("default", "cusolver", "magma"))
preferred_blas_library = _preference("preferred_blas_library", ("default", "cublas", "cublaslt", "hipblaslt", "ck"))


_reduced = {"on": False}


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Say whether attention by its formula may add up in half precision; it never does."""
    _reduced["on"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What `allow_fp16_bf16_reduction_math_sdp` said."""
    return _reduced["on"]


def is_ck_sdpa_available() -> bool:
    """Whether AMD's composable kernels are there: never."""
    return False


def is_flash_attention_available() -> bool:
    """Whether cuDNN's or PyTorch's flash attention is there: never."""
    return False


__all__ = [
    "SDPAParams", "can_use_cudnn_attention", "can_use_efficient_attention", "can_use_flash_attention", "cuFFTPlanCache",
    "is_built", "sdp_kernel",
]  # fmt: skip
