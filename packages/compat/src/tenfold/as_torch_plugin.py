"""What the plugin loader reads of this package: the version of the plugin interface it was written for."""

from __future__ import annotations

TENFOLD_PLUGIN_API = 1
