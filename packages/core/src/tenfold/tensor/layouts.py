"""What tensors have beside operators for the sake of others.

Of other layouts: conversions, which tenfold-sparse does, and refusals of the rest. Of libraries that look there: attributes
under names that PyTorch keeps to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.tensor import Tensor
from tenfold.types import memory_format

# What of a sparse tensor only some layout has, and which.
PARTS = {
    "coalesce": "sparse coordinate", "is_coalesced": "sparse coordinate", "indices": "sparse coordinate", "values": "sparse",
    "crow_indices": "sparse row compressed", "col_indices": "sparse row compressed",
    "ccol_indices": "sparse column compressed", "row_indices": "sparse column compressed",
}  # fmt: skip
INNER = ("_indices", "_values", "_nnz", "_coalesced_")


def _conversion(name: str) -> Callable[..., Any]:
    layout = getattr(memory_format, f"sparse_{name}")

    def convert(self: Tensor, dense_dim: int | None = None) -> Any:
        return SERVICES.to_sparse(self, layout=layout, dense_dim=dense_dim)

    def convert_blocks(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
        return SERVICES.to_sparse(self, layout=layout, blocksize=blocksize, dense_dim=dense_dim)

    return convert_blocks if name in ("bsr", "bsc") else convert


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(self: Tensor, *args: Any) -> Any:
        own = getattr(type(self), name)
        if own is not refuse:  # Tensor's function, called of a tensor whose layout has the part
            return own(self, *args)
        if name in INNER:
            raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: the tensor is dense")
        raise RuntimeError(f"{name} expected {PARTS[name]} tensor layout but got {layout_name(self.layout)}")

    return refuse


def layout_name(layout: Any) -> str:
    """A layout as PyTorch's errors name it: Strided, Sparse, SparseCsr."""
    return "".join(part.capitalize() for part in str(layout.name).replace("sparse_coo", "sparse").split("_"))


def _to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Tensor:
    return SERVICES.to_sparse(self, sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)  # type: ignore[no-any-return]


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    return self if dtype is None else self.to(dtype)


def _sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    return SERVICES.sparse_mask(self, mask)  # type: ignore[no-any-return]


def _to_sparse_coo(self: Tensor) -> Any:
    return SERVICES.to_sparse(self)


def _install(name: str, function: Any, doc: str) -> None:
    function.__name__, function.__qualname__, function.__doc__ = name, f"Tensor.{name}", doc
    setattr(Tensor, name, function)


for _name in ("csr", "csc", "bsr", "bsc"):
    _install(f"to_sparse_{_name}", _conversion(_name), f"The tensor in the layout `sparse_{_name}`.")
_install("to_sparse", _to_sparse, "The tensor in a sparse layout, of coordinates unless another is given.")
_install("to_dense", _to_dense, "The strided tensor with the same elements: itself, as long as it is in no other layout.")
_install("sparse_mask", _sparse_mask, "The elements at the coordinates of a sparse tensor.")
_install("to_sparse_coo", _to_sparse_coo, "The tensor in the layout `sparse_coo`.")
for _name in (*PARTS, *INNER):
    _install(_name, _refusal(_name), f"`{_name}` of a sparse tensor; refused here.")
_install("sparse_dim", lambda self: 0, "The number of dimensions that have coordinates: none.")
_install("dense_dim", lambda self: self.ndim, "The number of dimensions that have none: all.")


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
