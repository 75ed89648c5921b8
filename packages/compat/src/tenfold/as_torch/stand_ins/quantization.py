"""`torch.quantization`: the older name of `torch.ao.quantization`, and of the modules below it."""

import sys

from tenfold.as_torch.stand_ins.ao import quantization

sys.modules[__name__] = quantization
