"""What libraries are told as soon as they are imported, where Tenfold stands in for PyTorch.

Some look an array's engine up in a table by the first name of its class's module, and find PyTorch's row for Tenfold: a
tensor's class says truthfully that it is `tenfold.Tensor`, and they have a way to say under which of their rows a class falls.
torchaudio loads its compiled part where there is one, and has Python for most of it, which it takes where there is none; its
two loops over samples are replaced.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import tenfold


def _autoray(module: Any) -> None:
    module.register_backend(tenfold.Tensor, "torch")


def _opt_einsum(module: Any) -> None:
    module._aliases.setdefault("tenfold", module._aliases["torch"])


def _eagerpy(module: Any) -> None:
    plain = module._get_module_name
    module._get_module_name = lambda x: "torch" if isinstance(x, tenfold.Tensor) else plain(x)


def _torchaudio(module: Any) -> None:
    module._load_lib = lambda lib: False  # what it says of a library that is not there


def _torchaudio_filters(module: Any) -> None:
    loops = importlib.import_module("tenfold.as_torch.audio_loops")
    module._lfilter_core_loop, module._overdrive_core_loop_cpu = loops.lfilter_core_loop, loops.overdrive_core_loop


TABLES: dict[str, Callable[[Any], None]] = {
    "autoray.autoray": _autoray,
    "eagerpy.astensor": _eagerpy,
    "opt_einsum.backends.dispatch": _opt_einsum,
    "torchaudio._extension.utils": _torchaudio,
    "torchaudio.functional.filtering": _torchaudio_filters,
}


def enter_loaded() -> None:
    """Enter Tenfold in the tables of libraries that were imported before."""
    for name, enter in TABLES.items():
        if name in sys.modules:
            enter(sys.modules[name])


def entering(spec: ModuleSpec | None) -> ModuleSpec | None:
    """The same specification of a library's module, entering Tenfold in its table once it has run."""
    loader: Any = None if spec is None else spec.loader
    if spec is not None and hasattr(loader, "exec_module"):
        run, enter = loader.exec_module, TABLES[spec.name]

        def exec_module(module: Any) -> None:
            run(module)
            enter(module)

        loader.exec_module = exec_module
    return spec
