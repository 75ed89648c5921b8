"""PyTorch's path of the helpers with which its layers read sizes; libraries borrow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.nn.layers.sizes import as_tuple, twice_reversed


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a number n numbers, and leaves what can be iterated as it is.

    >>> _ntuple(2)(3), _ntuple(2)([4, 5])
    ((3, 3), (4, 5))
    """

    def parse(x: Any) -> tuple[Any, ...]:
        return as_tuple(x, n)

    parse.__name__ = name
    return parse


_single, _pair = _ntuple(1, "_single"), _ntuple(2, "_pair")
_triple, _quadruple = _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """The elements from last to first, each n times.

    >>> _reverse_repeat_tuple((1, 2), 2)
    (2, 2, 1, 1)
    """
    return tuple(twice_reversed(t)) if n == 2 else tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """Sizes in which None stands for the one in `defaults`."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    given = defaults[-len(out_size) :]
    return [default if size is None else size for size, default in zip(out_size, given)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix such as "module." from the names in a state_dict, in place; names without it stay.

    >>> state = {"module.weight": 1, "bias": 2}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1, 'bias': 2}
    """
    renamed = {key.removeprefix(prefix): value for key, value in state_dict.items()}
    state_dict.clear()
    state_dict.update(renamed)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:  # the same for the modules, the one at the top being the prefix without its dot
        kept = {"" if key == prefix.removesuffix(".") else key.removeprefix(prefix): value for key, value in metadata.items()}
        metadata.clear()
        metadata.update(kept)
