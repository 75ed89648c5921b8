"""Kernels for every device, through its backend: what is drawn and computed on the host."""
