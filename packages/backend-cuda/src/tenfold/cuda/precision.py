"""How exactly products of float32 are computed: in TensorFloat-32 only where PyTorch's switches allow it.

The switches are `backends.cuda.matmul.allow_tf32` and `set_float32_matmul_precision`, which are one, for products of matrices,
and `backends.cudnn.allow_tf32` for convolutions, which alone is on at first, as in PyTorch.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.cuda.cublaslt import COMPUTE_32F, COMPUTE_32F_FAST_TF32, IN_ANY, IN_COMPUTE_TYPE, IN_ONE, TYPES
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

F32 = np.dtype(np.float32)
CONVOLUTIONS = True  # what backends.cudnn.allow_tf32 is at first


def _module(name: str) -> Any:
    """A module of switches if it is loaded; nobody has set any in one that is not."""
    return sys.modules.get(name)


def products_in_tf32() -> bool:
    """Whether products of float32 matrices may round their factors to 10 bits."""
    levels = _module("tenfold.inspection.precision")
    return levels is not None and levels.get_float32_matmul_precision() != "highest"


def product_mode(dtype: Any) -> tuple[int, int]:
    """(in what the products of a dtype's matrices are summed, how several programs' parts of a sum may come together).

    Half precision may be added up in its own dtype where `backends.cuda.matmul.allow_fp16_reduced_precision_reduction`, or that
    of bf16, is True, as it is at first; a pair says beside it whether a sum may have parts at all.
    """
    try:
        summed, switch = _MODES[dtype]
    except KeyError:
        summed, switch = _MODES.setdefault(dtype, (TYPES.get(dtype.name, (0, 0))[1], _SWITCHES.get(dtype.name, "")))
    if switch == TF32:
        return _IN_TF32 if products_in_tf32() else _IN_FLOAT32
    if not switch or (switches := sys.modules.get("tenfold.backends.cuda")) is None:
        return summed, IN_ANY
    allowed = getattr(switches.matmul, switch)
    reduced, in_parts = allowed if isinstance(allowed, tuple) else (allowed, True)
    return summed, IN_ANY if reduced else IN_COMPUTE_TYPE if in_parts else IN_ONE


def switches() -> tuple[Any, ...]:
    """Where all switches stand that the kernels of products, convolutions and attention look at."""
    found = sys.modules.get
    products, levels, convolutions = map(
        found, ("tenfold.backends.cuda", "tenfold.inspection.precision", "tenfold.backends.cudnn")
    )
    return (
        are_deterministic_algorithms_enabled(),
        levels and levels.get_float32_matmul_precision(),
        products and (products.cudnn_sdp_enabled(), *vars(products.matmul).values()),
        convolutions and (
            convolutions.enabled, convolutions.allow_tf32, convolutions.benchmark, convolutions.deterministic,
        ),
    )  # fmt: skip


TF32 = "allow_tf32"
_IN_TF32, _IN_FLOAT32 = (COMPUTE_32F_FAST_TF32, IN_ANY), (COMPUTE_32F, IN_ANY)
_SWITCHES = {
    "float32": TF32, "float16": "allow_fp16_reduced_precision_reduction", "bfloat16": "allow_bf16_reduced_precision_reduction",
}  # fmt: skip
_MODES: dict[Any, tuple[int, str]] = {}


def convolution_precision(dtype: Any) -> str:
    """Triton's name of the precision of a convolution's products."""
    switches = _module("tenfold.backends.cudnn")
    allowed = CONVOLUTIONS if switches is None else switches.allow_tf32
    return "tf32" if dtype == F32 and allowed else "ieee"
