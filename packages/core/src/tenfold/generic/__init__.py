"""Kernels that work on every device through its backend's own methods; a device may attach faster ones."""
