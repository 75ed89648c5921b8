"""Lists and dicts of a node's arguments, which are changed by giving the node new ones."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or args of a "
        "torch.fx.Node object, instead create a new copy of it and assign the copy to the node: node.args = (...)"
    )


class immutable_list(list[Any]):  # noqa: N801 - PyTorch's name
    """A list that nobody changes, so that a node knows of every change of its inputs.

    >>> immutable_list([1]).append(2)
    Traceback (most recent call last):
    TypeError: 'immutable_list' object does not support mutation. ...
    """

    append = extend = insert = pop = remove = reverse = sort = clear = _refuse
    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return type(self), (list(self),)


class immutable_dict(dict[Any, Any]):  # noqa: N801 - PyTorch's name
    """A dict that nobody changes."""

    clear = pop = popitem = setdefault = update = __delitem__ = __ior__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)
