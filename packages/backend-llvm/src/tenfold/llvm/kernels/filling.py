"""Native call paths of writes to whole tensors."""

from __future__ import annotations

from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions

_session = sessions.session()
if _session is not None and _session.paths is not None:
    for _name in ("zero_", "copy_"):
        _session.paths.lead(getattr(op, _name).fn, f"path_{_name}")
