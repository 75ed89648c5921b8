"""`torch.ops`, the object: see `_ops`."""

import sys

from tenfold._ops import ops

sys.modules[__name__] = ops
