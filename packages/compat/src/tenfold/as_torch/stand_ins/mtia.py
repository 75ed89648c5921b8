"""`torch.mtia`: Meta's accelerators, which are not there."""

from tenfold.as_torch.stand_ins.no_device import answers

globals().update(answers("mtia", "Meta's accelerators"))
