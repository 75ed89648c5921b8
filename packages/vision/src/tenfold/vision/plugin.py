"""What tenfold-vision tells the plugin loader: the API version it was written for.

The package registers no operators, kernels or gradients: its operators are compositions of core's, so that they run on
every device and differentiate by themselves.
"""

from __future__ import annotations

TENFOLD_PLUGIN_API = 1
