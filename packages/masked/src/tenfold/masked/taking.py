"""Functions with a `mask` take a MaskedTensor, too, whose mask is theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_masked_tensors(function: Function) -> Function:
    """Decorator: a MaskedTensor stands for its data and, together with a mask that is given, its mask."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        input = args[0] if args else kwargs["input"]
        if not hasattr(type(input), "get_mask"):
            return function(*args, **kwargs)
        given, mask = kwargs.get("mask"), input.get_mask().to_dense()
        kwargs["mask"] = mask if given is None else mask & given
        data = input.get_data().to_dense()
        return function(data, *args[1:], **kwargs) if args else function(**{**kwargs, "input": data})

    return run  # type: ignore[return-value]
