"""`tenfold.signal`: signal processing under PyTorch's names, those of `torch.signal`."""

from tenfold.signal import windows as windows
