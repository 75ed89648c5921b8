"""`torch.testing._internal`: what PyTorch's own tests are written with, and some libraries' too."""
