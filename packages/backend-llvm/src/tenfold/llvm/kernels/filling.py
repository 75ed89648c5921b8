"""Native call paths of writes to whole tensors, and of factories that fill new ones."""

from __future__ import annotations

from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions

NAMES = (
    "zero_", "copy_", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
)  # fmt: skip
_session = sessions.session()
if _session is not None and _session.paths is not None:
    for _name in NAMES:
        _session.paths.lead(getattr(op, _name).fn, f"path_{_name}")
