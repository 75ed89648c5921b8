"""`torch._library`: what `torch.library` is made of."""
