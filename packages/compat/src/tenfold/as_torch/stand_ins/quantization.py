"""`torch.quantization`: the older name of `torch.ao.quantization`."""

from tenfold.as_torch.stand_ins.ao import quantization

globals().update({name: getattr(quantization, name) for name in quantization.__all__})
