"""Functions of texts as lists: one list, or a batch of lists; torchtext's `torchtext.functional`."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.utils.rnn import pad_sequence

__all__ = ["add_token", "str_to_int", "to_tensor", "truncate"]


def to_tensor(input: Any, padding_value: int | None = None, dtype: Any = tenfold.int64) -> Tensor:
    """A list of ids as a tensor (T,), or a batch of lists as (B, T), padded at the end where a padding value is given.

    Raises: TypeError for something else than lists of integers; ValueError for unequal lengths without padding value.

    >>> to_tensor([[1, 2], [3]], padding_value=0).tolist()
    [[1, 2], [3, 0]]
    """
    _check(input, "to_tensor", (int,))
    if _is_batch(input) and padding_value is not None:
        rows = [tenfold.tensor(row, dtype=dtype) for row in input]
        return pad_sequence(rows, batch_first=True, padding_value=float(padding_value))
    return tenfold.tensor(input, dtype=dtype)


def truncate(input: Any, max_seq_len: int) -> Any:
    """The first `max_seq_len` tokens.

    Raises: TypeError for something else than lists of tokens or ids.

    >>> truncate([[1, 2, 3], [4]], 2)
    [[1, 2], [4]]
    """
    _check(input, "truncate", (int, str))
    return [row[:max_seq_len] for row in input] if _is_batch(input) else input[:max_seq_len]


def add_token(input: Any, token_id: Any, begin: bool = True) -> Any:
    """The tokens with one more before or after them.

    Raises: TypeError for something else than lists of tokens or ids.

    >>> add_token([1, 2], 0), add_token([["a"]], "</s>", begin=False)
    ([0, 1, 2], [['a', '</s>']])
    """
    _check(input, "add_token", (int, str))
    if _is_batch(input):
        return [add_token(row, token_id, begin) for row in input]
    return [token_id, *input] if begin else [*input, token_id]


def str_to_int(input: Any) -> Any:
    """Numbers written as strings, as integers.

    Raises: TypeError for something else than lists of strings.

    >>> str_to_int([["1", "2"], ["3"]])
    [[1, 2], [3]]
    """
    _check(input, "str_to_int", (str,))
    return [str_to_int(row) for row in input] if _is_batch(input) else [int(token) for token in input]


def _is_batch(input: Any) -> bool:
    return bool(input) and isinstance(input[0], list | tuple)


def _check(input: Any, function: str, kinds: tuple[type, ...]) -> None:
    rows = input if isinstance(input, list | tuple) and _is_batch(input) else [input]
    for row in rows:
        if not isinstance(row, list | tuple) or not all(isinstance(item, kinds) for item in row):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{function}: Input type not supported; expected a list of {names}, or a list of such lists")
