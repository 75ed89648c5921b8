"""Compiles generated kernels with Triton for a given GPU: no GPU, driver, gcc or PyTorch takes part.

Triton keeps what it compiled on disk (TRITON_CACHE_DIR, by default ~/.triton/cache), by the kernel's text, its arguments'
types, the target and Triton's version; a second process only reads it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from tenfold.cuda.architectures import needed

# Contracting a * b + c is what CUDA's own compilers do; Triton's default changes between versions, so it is given. They also
# keep subnormal numbers, which Triton has libdevice take for 0: x / 1e-40 would be x / 0. Attention's weights below 1e-38 are
# nothing beside its largest of 1, and its time is that of exponentials, which take three instructions more to be exact there.
OPTIONS = {"enable_fp_fusion": True}
FLUSHING = ("attend", "attention_to_queries", "attention_to_keys")
_functions: dict[Any, Any] = {}


def jitted(kernel: Any) -> Any:
    """The generated kernel as Triton's compiler takes it.

    Raises: RuntimeError in a process that interprets kernels.
    """
    function = _functions.get(kernel)
    if function is None:
        import triton
        from triton.language.extra import libdevice

        function = triton.jit(kernel.function(libdevice))
        if not hasattr(function, "cache_key"):
            raise RuntimeError("this process interprets kernels (TRITON_INTERPRET=1); compile in one without it")
        _functions[kernel] = function
    return function


def options_of(kernel: Any) -> dict[str, Any]:
    """What Triton is told of a kernel beside its text."""
    found = {**OPTIONS, "num_warps": kernel.warps, "num_stages": getattr(kernel, "stages", 1)}
    found["enable_reflect_ftz"] = kernel.name in FLUSHING
    if getattr(kernel, "registers", 0):
        found["maxnreg"] = kernel.registers
    return found


def compile_for(capability: int, kernel: Any, signature: tuple[str, ...], divisible: Iterable[int] = ()) -> Any:
    """Triton's compiled kernel for a compute capability such as 90.

    `divisible` are the positions of arguments that are multiples of 16: addresses so aligned are read in wide words.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arguments()
    types: dict[str, str] = dict(zip(names, signature))
    constants = kernel.constants()
    types.update(dict.fromkeys(constants, "constexpr"))
    function = jitted(kernel)
    places = [function.arg_names.index(names[position]) for position in divisible]  # constants may lie between the arguments
    attributes = {(place,): [["tt.divisibility", 16]] for place in places}
    source = ASTSource(function, types, constants, attributes)
    with warnings.catch_warnings():
        # Triton 3.7 makes syntax trees of which Python 3.13 says that 3.15 will refuse them.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options_of(kernel))
        except Exception as error:
            told = needed(capability)
            if told:
                raise RuntimeError(f"{kernel.name} cannot be compiled for this GPU, which has {told}") from error
            raise
