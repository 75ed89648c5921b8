"""Random numbers: the same as without this package, from the same generator."""

from __future__ import annotations

from tenfold.llvm import draws, session as sessions

draws.install(sessions.session())
