"""Settings of PyTorch's compiler for backward passes: they can be set, and change nothing here."""

activation_memory_budget = 1.0
debug_assert = False
donated_buffer = False
enable_autograd_cache = True
functionalize_rng_ops = False
recompute_views = False
