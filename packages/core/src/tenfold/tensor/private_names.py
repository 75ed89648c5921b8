"""Attributes of tensors under names that PyTorch keeps to itself, for libraries that look there."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.tensor.tensor import Tensor


def _hooks(self: Tensor) -> Any:
    """The hooks of `register_hook` by their number, None if there are none."""
    return None if self._node is None else self._node.extras().get("tensor")


def _set_hooks(self: Tensor, hooks: Any) -> None:
    if self._node is not None:
        self._node.extras()["tensor"] = {} if hooks is None else hooks


def _refuse(self: Tensor) -> None:
    raise RuntimeError("the graph and its hooks cannot be deleted from a tensor: detach() gives one without them")


def _post_accumulate_grad_hooks(self: Tensor) -> Any:
    """The hooks of `register_post_accumulate_grad_hook` by their number, None if there are none."""
    return None if self._node is None else self._node.extras().get("post_accumulate")


def _module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What `load_state_dict` puts in this tensor's place for a saved `other`, where modules swap their tensors."""
    if has_torch_function((self, other)):
        loaded: Tensor = handle_torch_function(_module_load, (self, other), self, other, assign=assign)
        return loaded
    return other.detach() if assign else self.copy_(other).detach()


_ATTRIBUTES: dict[str, Any] = {
    "_backward_hooks": property(_hooks, _set_hooks, _refuse),
    "_grad_fn": property(lambda self: self.grad_fn, None, _refuse),
    "_post_accumulate_grad_hooks": property(_post_accumulate_grad_hooks),
    "module_load": _module_load,
}
_module_load.__name__ = "module_load"
for _name, _attribute in _ATTRIBUTES.items():
    setattr(Tensor, _name, _attribute)
