"""Modules whose parameters get their shape from the first input."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a layer of uninitialized parameters: mix it in ahead of the layer's class and write
    `initialize_parameters(*args)`.

    The first call materializes the parameters and turns the object into `cls_to_become`. A state_dict works on both sides.
    """

    cls_to_become: ClassVar[type | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        this: Any = self
        this._load_hook = this._register_load_state_dict_pre_hook(this._lazy_load_hook)
        this._initialize_hook = this.register_forward_pre_hook(this._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Shapes and fills the parameters for the arguments of the first forward; every lazy class overrides it."""
        raise NotImplementedError(f"{type(self).__name__}: a lazy module has to define initialize_parameters(*args).")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module still has no shape."""
        this: Any = self
        return any(is_lazy(tensor) for tensor in (*this._parameters.values(), *this._buffers.values()))

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        this: Any = self
        for name, tensor in this._own_state().items():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Gives uninitialized tensors the shapes that the state_dict brings."""
        this: Any = self
        for name, tensor in this._own_state().items():
            value = state_dict.get(prefix + name)
            if value is not None and is_lazy(tensor) and not is_lazy(value):
                tensor.materialize(value.shape)

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """The first call's pre-hook: initializes, then becomes the ordinary class."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"{type(self).__name__}: parameters were still uninitialized after initialize_parameters; it has to "
                "materialize every one of them."
            )
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
