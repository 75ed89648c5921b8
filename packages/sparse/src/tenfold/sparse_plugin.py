"""What tenfold-sparse registers: nothing by name; core finds `tenfold.sparse` when one of its functions is asked for."""

from __future__ import annotations

TENFOLD_PLUGIN_API = 1
