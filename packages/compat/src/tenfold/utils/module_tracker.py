"""`torch.utils.module_tracker`: which modules are running, by their names, in the forward and the backward pass."""

from __future__ import annotations

import importlib
import sys
from typing import Any
from weakref import WeakKeyDictionary

from tenfold import Tensor, is_grad_enabled
from tenfold.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """While entered, `parents` has the names of the modules that are running, and "Global".

    A module's name begins with that of the class of the outermost one: `Net.layer.0`. `is_bw`: a backward pass is running.

    >>> import tenfold
    >>> net, seen = tenfold.nn.Sequential(tenfold.nn.ReLU()), []
    >>> with ModuleTracker() as tracker:
    ...     handle = net[0].register_forward_pre_hook(lambda *_: seen.append(sorted(tracker.parents)))
    ...     y = net(tenfold.ones(1))
    >>> seen
    [['Global', 'Sequential', 'Sequential.0']]
    """

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass is running."""
        engine = sys.modules.get("tenfold.autograd.engine")
        return engine is not None and engine.TASKS.current is not None

    def _name(self, module: Any) -> str:
        if module not in self._names:
            for path, inner in module.named_modules():
                if inner not in self._names:
                    self._names[inner] = f"{type(module).__name__}.{path}" if path else type(module).__name__
        return self._names[module]

    def _began(self, name: str) -> None:
        self.parents.add(name)

    def _ended(self, name: str) -> None:
        self.parents.discard(name)

    def _at_gradients(self, values: Any, act: Any, name: str, mode: str) -> None:
        """Act once the gradients of tensors that are recorded are there: all of them, or any."""
        tensors = [t for t in tree_leaves(values) if isinstance(t, Tensor) and t.requires_grad]
        if not is_grad_enabled() or not tensors:
            return

        def reached(*_: Any) -> None:
            act(name)

        importlib.import_module("tenfold.autograd.graph").register_multi_grad_hook(tensors, reached, mode=mode)

    def _before(self, module: Any, args: Any) -> None:
        name = self._name(module)
        self._began(name)
        self._at_gradients(args, self._ended, name, "all")

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self._name(module)
        self._ended(name)
        self._at_gradients(output, self._began, name, "any")

    def __enter__(self) -> Any:
        hooks = importlib.import_module("tenfold.nn.modules.module")
        self._handles = (
            hooks.register_module_forward_pre_hook(self._before),
            hooks.register_module_forward_hook(self._after, always_call=True),
        )
        return self

    def __exit__(self, *exc: object) -> None:
        for handle in self._handles:
            handle.remove()
