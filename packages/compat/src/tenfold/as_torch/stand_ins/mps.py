"""`torch.mps`: Apple's GPUs, which are not there."""

from tenfold.as_torch.stand_ins.no_device import answers

globals().update(answers("mps", "Apple's GPUs"))
