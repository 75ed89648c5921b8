"""`torch._higher_order_ops`: the operators over functions that libraries import by their files."""
