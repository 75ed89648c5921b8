"""Next-character prediction on a text."""

from __future__ import annotations

from collections.abc import Iterable

import tenfold
from tenfold import Tensor
from tenfold.data import Dataset
from tenfold.text.vocab import Vocab


class CharacterDataset(Dataset[tuple[Tensor, Tensor]]):
    """Sample i is (ids of characters i to i+T-1, ids of characters i+1 to i+T), with T the block size.

    The vocabulary is the text's characters in code point order, or a given one. Shapes: (T,), (T,); dtype int64.

    Raises: ValueError when `block_size` is below 1 or the text has not more than `block_size` characters; IndexError out of
    range; RuntimeError for a character that a given vocabulary lacks.

    >>> data = CharacterDataset("abcab", block_size=3)
    >>> x, y = data[1]
    >>> x.tolist(), data.decode(y), len(data)
    ([1, 2, 0], 'cab', 2)
    """

    def __init__(self, text: str, block_size: int, vocabulary: Vocab | None = None) -> None:
        if block_size < 1:
            raise ValueError(f"CharacterDataset: block_size must be at least 1, got {block_size}")
        if len(text) <= block_size:
            raise ValueError(f"CharacterDataset: the text has {len(text)} characters, needs more than block_size={block_size}")
        self.block_size = block_size
        self.vocab = Vocab(sorted(set(text))) if vocabulary is None else vocabulary
        self.ids = self.encode(text)  # (characters,)

    @property
    def vocab_size(self) -> int:
        """The number of different characters."""
        return len(self.vocab)

    def __len__(self) -> int:
        return len(self.ids) - self.block_size

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        start = index + len(self) if index < 0 else index
        if not 0 <= start < len(self):
            raise IndexError(f"CharacterDataset: index {index} is out of range for {len(self)} samples")
        end = start + self.block_size
        return self.ids[start:end], self.ids[start + 1 : end + 1]

    def encode(self, text: str) -> Tensor:
        """The ids of a text's characters, an int64 tensor."""
        return tenfold.tensor(self.vocab(list(text)), dtype=tenfold.int64)

    def decode(self, ids: Tensor | Iterable[int]) -> str:
        """The text of ids."""
        return "".join(self.vocab.lookup_tokens([int(index) for index in (ids.tolist() if isinstance(ids, Tensor) else ids)]))


def pydoc_topics() -> str:
    """The text of Python's built-in help topics as one string, about half a million characters: a corpus that needs no download.

    The topics are in alphabetical order, so the string depends on the Python version only.
    """
    from pydoc_data.topics import topics  # half a megabyte of text

    return "\n\n".join(topics[name] for name in sorted(topics))
