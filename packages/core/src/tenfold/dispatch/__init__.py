"""How a call reaches its kernel: operators, devices, kernels, generated call paths and the full dispatch that they shorten."""
