"""Transforms of lists of tokens or ids, one or a batch of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn import functional as nn_functional
from tenfold.text import functional as F
from tenfold.text.vocab import Vocab


class VocabTransform(nn.Module):
    """Tokens to indices.

    >>> VocabTransform(Vocab(["a", "b"]))([["b", "a"], ["a"]])
    [[1, 0], [0]]
    """

    def __init__(self, vocab: Vocab) -> None:
        super().__init__()
        if not isinstance(vocab, Vocab):
            raise AssertionError(f"VocabTransform: expected a Vocab, got {type(vocab).__name__}")
        self.vocab = vocab

    def forward(self, input: Any) -> Any:
        if not isinstance(input, list | tuple):
            raise TypeError(f"VocabTransform: Input type not supported; expected lists of tokens, got {type(input).__name__}")
        if input and isinstance(input[0], list | tuple):
            return [self.vocab.lookup_indices(tokens) for tokens in input]
        return self.vocab.lookup_indices(input)


class ToTensor(nn.Module):
    """Lists of ids to a tensor; a batch is padded with `padding_value`."""

    def __init__(self, padding_value: int | None = None, dtype: Any = tenfold.int64) -> None:
        super().__init__()
        self.padding_value, self.dtype = padding_value, dtype

    def forward(self, input: Any) -> Tensor:
        return F.to_tensor(input, self.padding_value, self.dtype)


class LabelToIndex(nn.Module):
    """Labels to indices, in the order of `label_names` or of the lines of a file; alphabetically with `sort_names`.

    >>> LabelToIndex(["neg", "pos"])(["pos", "neg"])
    [1, 0]
    """

    def __init__(
        self,
        label_names: Sequence[str] | None = None,
        label_path: str | os.PathLike[str] | None = None,
        *,
        sort_names: bool = False,
    ) -> None:
        super().__init__()
        if (label_names is None) == (label_path is None):
            raise AssertionError("LabelToIndex: give either label_names or label_path")
        if label_path is not None:
            with open(label_path, encoding="utf-8-sig") as file:
                label_names = [line.strip() for line in file if line.strip()]
        names = list(label_names or ())
        self._label_vocab = Vocab(sorted(names) if sort_names else names)

    @property
    def label_names(self) -> list[str]:
        """The labels by index."""
        return self._label_vocab.get_itos()

    def forward(self, input: Any) -> Any:
        if isinstance(input, str):
            return self._label_vocab[input]
        if isinstance(input, list | tuple):
            return self._label_vocab.lookup_indices(input)
        raise TypeError(f"LabelToIndex: Input type not supported; expected a label or a list, got {type(input).__name__}")


class Truncate(nn.Module):
    """The first `max_seq_len` tokens."""

    def __init__(self, max_seq_len: int) -> None:
        super().__init__()
        self.max_seq_len = max_seq_len

    def forward(self, input: Any) -> Any:
        return F.truncate(input, self.max_seq_len)


class AddToken(nn.Module):
    """One more token, before or after."""

    def __init__(self, token: int | str, begin: bool = True) -> None:
        super().__init__()
        self.token, self.begin = token, begin

    def forward(self, input: Any) -> Any:
        return F.add_token(input, self.token, self.begin)


class PadTransform(nn.Module):
    """A tensor filled up to `max_length` in its last dimension; a longer one stays as it is.

    >>> PadTransform(max_length=4, pad_value=0)(tenfold.tensor([5, 6])).tolist()
    [5, 6, 0, 0]
    """

    def __init__(self, max_length: int, pad_value: int) -> None:
        super().__init__()
        self.max_length, self.pad_value = max_length, float(pad_value)

    def forward(self, x: Tensor) -> Tensor:
        missing = self.max_length - x.size(-1)
        return nn_functional.pad(x, (0, missing), value=self.pad_value) if missing > 0 else x


class StrToIntTransform(nn.Module):
    """Numbers written as strings to integers."""

    def forward(self, input: Any) -> Any:
        return F.str_to_int(input)


class Sequential(nn.Sequential):
    """Transforms one after the other.

    >>> Sequential(Truncate(2), AddToken(0), ToTensor())([7, 8, 9]).tolist()
    [0, 7, 8]
    """

    def forward(self, input: Any) -> Any:
        for transform in self:
            input = transform(input)
        return input
