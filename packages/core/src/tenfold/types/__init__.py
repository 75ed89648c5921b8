"""What tensors are made of: dtypes, promotion, sizes, memory formats, numeric limits. Imports nothing else of Tenfold.

Here: the name under which these are printed, `tenfold.float32`, or `torch.float32` where Tenfold stands in for PyTorch.
"""

_namespace = "tenfold"


def namespace() -> str:
    """The first part of printed names.

    >>> namespace()
    'tenfold'
    """
    return _namespace


def set_namespace(name: str) -> None:
    """Let dtypes, sizes, layouts and memory formats, and the tensors that show them, be printed under another name."""
    global _namespace
    _namespace = name


def qualified(name: str) -> str:
    """A name as it is printed.

    >>> qualified("float32")
    'tenfold.float32'
    """
    return f"{_namespace}.{name}"
