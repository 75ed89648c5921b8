"""The device "cuda" in place of the CPU in a judge's programs: a GPU, or Triton's interpreter where there is none."""

from __future__ import annotations

import os
from typing import Any


def start() -> None:
    """Have the device; convolutions are as exact as the CPU's, with which they are compared."""
    from tenfold.cuda import availability, precision

    precision.CONVOLUTIONS = False
    if not availability.probe()[0]:
        os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton
        from tenfold.cuda import interpreter

        interpreter.use()


# What a program of the fuzzer may show on the device only.
ACCEPTED = [
    (r"repr", r"python value", "tensors tell their device"),
    (
        r"rand.*|normal.*|bernoulli.*|.*dropout.*|multinomial|uniform.*|exponential.*",
        r"(grad )?value.*",
        "numbers of another stream",
    ),
    (r".*numpy.*|np\..*", r"error: None / TypeError", "tensors of the device are no NumPy arrays"),
]


def with_device(judge: Any) -> None:
    """Let the fuzzer's tensors of Tenfold be on the device."""

    class OnCuda(judge.Both):  # type: ignore[misc, name-defined, unused-ignore]
        """The two libraries, where Tenfold makes its tensors on "cuda"."""

        def __init__(self) -> None:
            super().__init__()
            self.tenfold.set_default_device("cuda")

        def raw(self, t: Any, lib: Any) -> Any:
            return super().raw(t if lib is self.torch else t.detach().cpu(), lib)

        def floats(self, t: Any, lib: Any) -> Any:
            return super().floats(t if lib is self.torch else t.detach().cpu(), lib)

        def sync(self, a: Any, b: Any) -> None:
            """Copy PyTorch's bits, which no version counts."""
            from tenfold.cuda import runtime

            bits = b.detach().view(self.tenfold.int16) if self.dtname(b) == "bfloat16" else b.detach()
            bits._array[...] = runtime.current().module.asarray(self.raw(a, self.torch))

    judge.Both = OnCuda
    judge.ALLOWED += ACCEPTED
