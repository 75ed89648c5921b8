"""`torch._functorch`: PyTorch's own path of vmap and its siblings."""
