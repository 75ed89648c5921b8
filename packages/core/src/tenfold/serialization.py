"""`tenfold.serialization`: saving and loading under PyTorch's module name."""

from tenfold.checkpoint.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
