"""PyTorch programs on Tenfold, unmodified.

    python -m tenfold.as_torch SCRIPT ARGS      python -m tenfold.as_torch -m MODULE ARGS      python -m tenfold.as_torch -c CODE

In that process and in all that it starts, `import torch`, `torchvision` and `torchtext` give Tenfold's modules. In a notebook:
`tenfold.as_torch.install()` before the first `import torch`; for pytest: `-p tenfold.as_torch.pytest_plugin`.

    python -m tenfold.as_torch --check SCRIPT|FOLDER|PACKAGE

reads a program and lists the names of PyTorch's that it uses, and which are missing.
"""

from __future__ import annotations

from tenfold.as_torch.installing import finder, install, is_installed

__all__ = ["finder", "install", "is_installed"]
