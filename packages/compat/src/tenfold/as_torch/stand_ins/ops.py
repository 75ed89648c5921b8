"""`torch.ops`, the object: see `_ops`."""

import sys

from tenfold.as_torch.stand_ins._ops import ops

sys.modules[__name__] = ops
