"""Every environment variable that Tenfold reads, declared once; `python -m tenfold doctor` prints them."""

import os
from typing import NamedTuple


class Variable(NamedTuple):
    """One environment variable: its name, default and meaning."""

    name: str
    default: str
    meaning: str

    def read(self) -> str:
        return os.environ.get(self.name, self.default)


DISABLE_PLUGINS = Variable(
    "TENFOLD_DISABLE_PLUGINS", "", "names of plugins not to load, separated by commas; 1 means all installed plugins"
)
DEBUG = Variable(
    "TENFOLD_DEBUG",
    "0",
    "1: say which plugins load; 2: also every operator with shapes and ms; 3: and its kernel; 4: also check results",
)
HOME = Variable("TENFOLD_HOME", "~/.cache/tenfold", "folder of what is fetched once, such as checkpoints")
OFFLINE_FOLDER = Variable("TENFOLD_OFFLINE_FOLDER", "", "folder of files that stand in for every download")
NUM_THREADS = Variable(
    "TENFOLD_NUM_THREADS", "", "threads of CPU kernels; by default what OMP_NUM_THREADS says, else all processors"
)
AS_TORCH = Variable(
    "TENFOLD_AS_TORCH", "", "1: `import torch` is Tenfold, where tenfold-compat is installed; it sets this itself"
)

CPU_CACHE = Variable(
    "TENFOLD_CPU_CACHE",
    "",
    "freed memory that is kept for new arrays, such as 500M or 2G; 0: none; by default an eighth of the memory, at most 2G",
)
NATIVE_CALLS = Variable(
    "TENFOLD_NATIVE_CALLS", "1", "0: calls of operators run in the interpreter, also where tenfold-backend-llvm has native ones"
)
FORCE_WEIGHTS_ONLY = Variable(
    "TORCH_FORCE_WEIGHTS_ONLY_LOAD", "", "1: `load` makes tensors and plain containers only, whatever the program says"
)
FORCE_NO_WEIGHTS_ONLY = Variable(
    "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD",
    "",
    "1: `load` trusts every file, unless the program says otherwise; files can run any code",
)

VARIABLES = (
    DISABLE_PLUGINS,
    DEBUG,
    HOME,
    OFFLINE_FOLDER,
    NUM_THREADS,
    CPU_CACHE,
    NATIVE_CALLS,
    AS_TORCH,
    FORCE_WEIGHTS_ONLY,
    FORCE_NO_WEIGHTS_ONLY,
)


def number_of_bytes(name: str, text: str) -> int:
    """A size such as 4096, 64K, 500M or 2G in bytes. Raises: ValueError for anything else."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if not number.isdecimal() or unit not in ("", "K", "M", "G"):
        raise ValueError(f"{name} has to be a number of bytes, such as 0, 500M or 2G, got {text!r}")
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]
