"""`torch.xpu`: Intel's GPUs, which are not there."""

from tenfold.as_torch.stand_ins.no_device import answers

globals().update(answers("xpu", "Intel's GPUs"))
