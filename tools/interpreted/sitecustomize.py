"""Gives every Python process the device "cuda" in Triton's interpreter: this folder in PYTHONPATH, PROGRAM_DEVICE=cuda.

With PROGRAM_DEVICE=cpu programs that ask for an accelerator find the CPU, and do the same as on the device; in PyTorch, too.
With TENFOLD_HOST_DRAWS=1 its random numbers come from the CPU's stream, so that a program prints what it prints on the CPU; with
TENFOLD_DEFAULT_DEVICE=cuda tensors are made there.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable
from typing import Any

DRAWS = "uniform normal exponential bernoulli randint random randperm multinomial"


class AtOnce(importlib.abc.MetaPathFinder):
    """Waits for `import tenfold`: a process that does not use it starts as it always does."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        own = os.environ["PROGRAM_DEVICE"] == "cpu" and os.environ.get("TENFOLD_AS_TORCH") != "1"  # else torch is Tenfold
        if name != "tenfold" and not (own and name == "torch"):
            return None
        sys.meta_path.remove(self)
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is not None and found.loader is not None:
            run = found.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                if os.environ["PROGRAM_DEVICE"] == "cpu":
                    the_cpu_accelerates(module)
                elif name == "tenfold":
                    begin()

            found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found


def begin() -> None:
    """The device in this process."""
    from tenfold.cuda import interpreter, precision

    precision.CONVOLUTIONS = False  # as exact as the CPU's, with which numbers are compared
    interpreter.use()
    if os.environ.get("TENFOLD_HOST_DRAWS") == "1":
        draw_on_the_host()
    if "TENFOLD_DEFAULT_DEVICE" in os.environ:
        __import__("tenfold").set_default_device(os.environ["TENFOLD_DEFAULT_DEVICE"])


def the_cpu_accelerates(library: Any) -> None:
    """Let the program itself, not the library, find that the CPU is the accelerator."""
    accelerator = importlib.import_module(f"{library.__name__}.accelerator")
    for name, value in {"is_available": True, "current_accelerator": library.device("cpu")}.items():
        own = getattr(accelerator, name)
        setattr(accelerator, name, functools.partial(_answer, own, value))


def _answer(own: Callable[..., Any], value: Any, *arguments: Any, **named: Any) -> Any:
    return value if sys._getframe(1).f_globals.get("__name__") == "__main__" else own(*arguments, **named)


def draw_on_the_host() -> None:
    """Let the device's draws be the CPU's: of its default generator, in its order."""
    from tenfold.cuda import runtime
    from tenfold.cuda.sampling import Sampling
    from tenfold.random import sampling
    from tenfold.random.generator import Generator, default_generator

    made: dict[int, Any] = {}

    def on_the_host(generator: Any) -> Any:
        """The CPU's generator that begins where one of the device does."""
        place = getattr(generator, "place", None)
        if place is None:
            return default_generator
        if not place[1] or id(place) not in made:
            made[id(place)] = place, Generator().manual_seed(place[0])
        place[1] += 1
        return made[id(place)][1]

    def drawing(name: str) -> Callable[..., Any]:
        def draw(self: Any, generator: Any, *given: Any, **named: Any) -> Any:
            now = runtime.current()
            host = [now.to_host(x) if isinstance(x, now.array_type) else x for x in given]
            return now.from_host(getattr(sampling, name)(on_the_host(generator), *host, **named), self.index)

        return draw

    for name in DRAWS.split():
        setattr(Sampling, name, drawing(name))

    dropout: Any = importlib.import_module("tenfold.nn.ops.dropout")
    dropout._in_one_pass = lambda input: False  # by a mask that is drawn first, as on the CPU
    backend: Any = importlib.import_module("tenfold.cuda.backend")
    backend.CudaBackend.attention_words = lambda self, *given: None  # attention's, too


if "PROGRAM_DEVICE" in os.environ:
    if os.environ["PROGRAM_DEVICE"] == "cuda":
        os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton
    if "tenfold" not in sys.modules:
        sys.meta_path.insert(0, AtOnce())
    elif os.environ["PROGRAM_DEVICE"] == "cuda":  # a process that was started by one under PyTorch's names
        begin()
