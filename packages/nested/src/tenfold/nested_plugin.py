"""What tenfold-nested registers: nothing by name; core finds `tenfold.nested` when one of its functions is asked for."""

from __future__ import annotations

TENFOLD_PLUGIN_API = 1
