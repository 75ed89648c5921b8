"""What the lower rooms ask of the rooms above them: one registry of functions by name.

Dispatch finds no plugins and the tensor prints nothing, yet a first call needs a backend and `repr` a printer. They ask
`SERVICES.backend_of(...)`, `SERVICES.repr_of(...)`. Which module has such a function is said once, at the top, in
`tenfold/__init__.py`; it is imported when first asked for, so that `import tenfold` loads none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


class Services:
    """Functions of higher rooms, each imported from its provider when first asked for.

    >>> from math import tau
    >>> services = Services()
    >>> services.provide("math", "tau")
    >>> services.tau == tau
    True
    """

    if TYPE_CHECKING:
        # of the call path
        specialise: Callable[[Any], Any]  # gives an operator's function its code
        source: Callable[[Any], str]  # the text of that code
        # of plugins
        backend_of: Callable[[str], Any]  # the backend of a device type
        device_types: Callable[[], list[str]]  # those that have a backend
        load_kernels: Callable[[str, str], None]  # of a device type, for a family
        load_operators: Callable[[], None]
        plugin_failure: Callable[[str, str], Exception | None]  # why a device type, as begun in words, is not served
        autograd: Callable[[], Any]  # the gradient tape
        # of tensors and their operators
        repr_of: Callable[[Any], str]
        deep_copy: Callable[[Any, dict[int, Any]], Any]
        reduce: Callable[[Any], Any]
        copy_storage: Callable[[Any, dict[int, Any]], Any]
        reduce_storage: Callable[[Any], Any]
        typed_storage: Callable[..., Any]
        storage_type: Callable[[Any], Any]
        # of memory that processes share
        Segment: Any
        mapped_file: Callable[[Any, bool, int], Any]
        on_span: Callable[[Any, int, int], Any]
        require_shared_memory: Callable[[], None]
        shared_copy: Callable[[Any], Any]
        share_memory: Callable[[Any], None]
        export: Callable[..., Any]
        dlpack_device: Callable[[Any], tuple[int, int]]
        from_dlpack: Callable[[Any], Any]
        array_namespace: Callable[[str | None], Any]
        to_array: Callable[[Any, Any, bool], Any]
        legacy_tensor: Callable[[tuple[Any, ...], Any], Any]
        from_numpy: Callable[[Any], Any]
        empty_strided: Callable[..., Any]
        # of layouts, in a package of their own
        to_sparse: Callable[..., Any]
        sparse_mask: Callable[..., Any]
        without_elements: Callable[..., Any]
        smm: Callable[..., Any]
        sspaddmm: Callable[..., Any]
        # of tenfold-compat
        in_parts: Callable[..., Any]  # what PyTorch makes an operator of
        internal_form: Callable[..., Any]  # PyTorch's name for an operator's call
        ask_beneath: Callable[..., Any]  # modes and classes with __torch_dispatch__, for an operator's result

    def __init__(self) -> None:
        self._providers: dict[str, str] = {}

    def provide(self, module: str, names: str) -> None:
        """Say that a module has the functions of these names, separated by spaces."""
        self._providers.update(dict.fromkeys(names.split(), module))

    def __getattr__(self, name: str) -> Any:
        module = self._providers.get(name) if not name.startswith("_") else None
        if module is None:
            raise AttributeError(f"no room provides the service {name!r}")
        found = getattr(importlib.import_module(module), name)
        setattr(self, name, found)  # the next time it is an attribute like any other
        return found


SERVICES = Services()
