"""What else `func` offers: a look beneath wrappers, functions without mutation, batch norms without running statistics."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.autograd.levels import SCOPES, bare
from tenfold.tensor.tensor import Tensor


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The value beneath a tensor that a function being transformed computes with: the whole batch under vmap, for example.

    `recurse` goes through all transforms down to a tensor that can be printed; else only the innermost is taken off.

    >>> import tenfold
    >>> from tenfold.func import debug_unwrap, vmap
    >>> seen = []
    >>> _ = vmap(lambda x: seen.append(debug_unwrap(x)) or x)(tenfold.tensor([1.0, 2.0]))
    >>> seen[0]
    tensor([1., 2.])
    """
    found: Any = tensor
    while found._key.level is not None:
        found = found._array.value
        if not recurse:
            return found  # type: ignore[no-any-return]
    return bare(found) if SCOPES.depth else found


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function, for which in-place writes mean what their out-of-place forms would.

    Tenfold's writes to a function's own tensors are recorded and batched as such, so that there is nothing to take out
    (`remove`: "mutations" or "mutations_and_views").
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            f"remove='mutations' and remove='mutations_and_views'"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapped


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Take the running statistics off all batch norms of a module, in place; returns it.

    Under vmap they would be written with values that differ between the examples.
    """
    for module in root.modules():
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):  # the package of layers is above this one
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


__all__ = ["debug_unwrap", "functionalize", "replace_all_batch_norm_modules_"]
