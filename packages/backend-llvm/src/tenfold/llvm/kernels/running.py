"""Running extremes: of tenfold-scientific's operators."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.kernels.scans import extreme


def _attach(name: str, kind: str) -> None:
    serve = partial(extreme, kind)

    def wrapped(beneath: Any) -> Any:
        def run(input: Any, dim: int) -> Any:
            found = serve(input, dim)
            return beneath(input, dim) if found is NotImplemented else found

        return beneath if sessions.session() is None else run

    ACCELERATED[name] = serve
    kernel(getattr(op, name), device="cpu", wrap=True, note="real numbers in one piece")(wrapped)


_attach("cummax_pair", "largest")
_attach("cummin_pair", "smallest")
