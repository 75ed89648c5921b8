"""From texts to the tensors that models take: special tokens, pairs, truncation, padding, masks.

`Encoder` does it for any tokenizer with a vocabulary; what a batch is, and how it is padded, is the same for all tokenizers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.text.vocab import Vocab

PADDING = (False, True, "longest", "max_length")
TRUNCATION = (False, True, "longest_first", "only_first", "only_second")


@dataclasses.dataclass
class Row:
    """One text, or a pair, as ids; of which of the two each is (0 or 1); and which were put in (1) beside the text (0).

    Where they are asked for, also from which character of its text to which each token goes, and of which word it is.
    """

    ids: list[int]
    types: list[int]
    special: list[int]
    offsets: list[tuple[int, int]] | None = None
    words: list[int | None] | None = None


class Encoding(Mapping[str, Tensor]):
    """A batch of texts as tensors of shape (B, T), int64; `model(**encoding)` hands them over by name.

    `input_ids`, `attention_mask` (1 for tokens, 0 for padding), `token_type_ids` (1 in the second text of a pair); besides, as
    an attribute only, `special_tokens_mask` (1 for what is not of the texts), and where it was asked for `offset_mapping`
    (B, T, 2): from which character of its text to which each token goes, (0, 0) for what is not of the texts.
    """

    def __init__(
        self,
        parts: dict[str, Tensor],
        special_tokens_mask: Tensor,
        offset_mapping: Tensor | None = None,
        words: list[list[int | None]] | None = None,
    ) -> None:
        self._parts, self._words = parts, words
        self.special_tokens_mask, self.offset_mapping = special_tokens_mask, offset_mapping

    def word_ids(self, row: int = 0) -> list[int | None]:
        """The number of the word that each token of a row is of, counted in its text; None for what is not of the texts.

        Raises: ValueError where offsets were not asked for.
        """
        if self._words is None:
            raise ValueError("Encoding.word_ids: words were not kept; make the batch with return_offsets_mapping=True")
        return self._words[row]

    def __getitem__(self, name: str) -> Tensor:
        return self._parts[name]

    def __getattr__(self, name: str) -> Tensor:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"Encoding has no {name!r}; it has {', '.join(self.__dict__.get('_parts', ()))}")
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def to(self, *args: Any, **kwargs: Any) -> Encoding:
        """The same on another device."""
        parts = {name: part.to(*args, **kwargs) for name, part in self._parts.items()}
        offsets = None if self.offset_mapping is None else self.offset_mapping.to(*args, **kwargs)
        return Encoding(parts, self.special_tokens_mask.to(*args, **kwargs), offsets, self._words)

    def __repr__(self) -> str:
        return f"Encoding({', '.join(f'{name}: {tuple(part.shape)}' for name, part in self._parts.items())})"


def padded(
    rows: Sequence[Row],
    pad: int | None,
    padding: bool | str = True,
    max_length: int | None = None,
    side: str = "right",
    multiple_of: int | None = None,
) -> Encoding:
    """Rows as one batch.

    Raises: ValueError where rows of unequal lengths are not to be padded, or there is no padding token.
    """
    width = _width([len(row.ids) for row in rows], padding, max_length, multiple_of)
    if pad is None and any(len(row.ids) < width for row in rows):
        raise ValueError(
            "the texts have different lengths and the tokenizer has no padding token; name one: SubwordTokenizer's pad_token, "
            "SentencePiece's pad (an id), Encoder's pad"
        )

    def filled(values: list[Any], fill: Any) -> list[Any]:
        return [row + [fill] * (width - len(row)) if side == "right" else [fill] * (width - len(row)) + row for row in values]

    def table(values: list[Any], fill: Any, *more: int) -> Tensor:
        return tenfold.tensor(filled(values, fill), dtype=tenfold.int64).reshape(len(rows), width, *more)

    parts = {
        "input_ids": table([row.ids for row in rows], pad or 0),
        "attention_mask": table([[1] * len(row.ids) for row in rows], 0),
        "token_type_ids": table([row.types for row in rows], 0),
    }
    located = bool(rows) and all(row.offsets is not None for row in rows)
    offsets = table([row.offsets for row in rows], (0, 0), 2) if located else None
    words = filled([row.words for row in rows], None) if located else None
    return Encoding(parts, table([row.special for row in rows], 1), offsets, words)


def _width(lengths: list[int], padding: bool | str, max_length: int | None, multiple_of: int | None) -> int:
    if padding not in PADDING:
        raise ValueError(f"padding is one of {PADDING}, got {padding!r}")
    longest = max(lengths, default=0)
    if padding is False:
        if len(set(lengths)) > 1:
            raise ValueError(f"texts of {min(lengths)} to {longest} tokens do not make one tensor; use padding=True")
        return longest
    if padding == "max_length":
        if max_length is None:
            raise ValueError("padding='max_length' needs max_length")
        longest = max(longest, max_length)
    return longest if multiple_of is None else -(-longest // multiple_of) * multiple_of


def truncated(
    first: list[Any], second: list[Any] | None, room: int, strategy: bool | str = True, side: str = "right"
) -> tuple[list[Any], list[Any] | None]:
    """A text, or a pair, cut to `room` tokens together; `longest_first` takes them from the longer one until both have half.

    Raises: ValueError for an unknown strategy, and where the text to be cut is too short for it.

    >>> truncated([1, 2, 3, 4], [5, 6, 7], 5)
    ([1, 2, 3], [5, 6])
    """
    if strategy not in TRUNCATION:
        raise ValueError(f"truncation is one of {TRUNCATION}, got {strategy!r}")
    if strategy is not False and room < 0:
        raise ValueError(f"truncation: the special tokens alone are {-room} more than max_length")
    lengths = [len(first), len(second or ())]
    excess = sum(lengths) - room
    if strategy is False or excess <= 0:
        return first, second
    if strategy in ("only_first", "only_second"):
        index = 0 if strategy == "only_first" else 1
        if lengths[index] < excess:
            raise ValueError(f"truncation={strategy!r}: {excess} tokens are too many, that text has {lengths[index]}")
        lengths[index] -= excess
    else:
        lengths = _shared(lengths, room)
    keep = [_cut(first, lengths[0], side), None if second is None else _cut(second, lengths[1], side)]
    return keep[0] or [], keep[1]


def _shared(lengths: list[int], room: int) -> list[int]:
    """The lengths of two texts once the longer one has lost tokens: the shorter one is whole, or both have half of the room.

    A token that cannot be halved is the longer text's, of equals the second one's.
    """
    short, first_is_longer = min(lengths), lengths[0] > lengths[1]
    short = min(short, room // 2)
    return [room - short, short] if first_is_longer else [short, room - short]


def _cut(tokens: list[Any], length: int, side: str) -> list[Any]:
    return tokens[:length] if side == "right" else tokens[len(tokens) - length :]


class Encoder:
    """Makes batches of texts with a tokenizer and a vocabulary, as BERT wants them: ``begin A end`` or ``begin A end B end``.

    `begin`, `end` and `pad` are tokens of the vocabulary; None leaves one out.

    Raises: RuntimeError for a special token that the vocabulary lacks, and for an unknown one without default index.

    >>> words = Vocab(["[PAD]", "[CLS]", "[SEP]", "a", "b"])
    >>> Encoder(str.split, words)(["a b", "b"]).input_ids.tolist()
    [[1, 3, 4, 2], [1, 4, 2, 0]]
    """

    def __init__(
        self,
        tokenizer: Callable[[str], list[str]],
        vocabulary: Vocab,
        begin: str | None = "[CLS]",
        end: str | None = "[SEP]",
        pad: str | None = "[PAD]",
        side: str = "right",
    ) -> None:
        self.tokenizer, self.vocabulary, self.side = tokenizer, vocabulary, side
        self.begin = [] if begin is None else [vocabulary[begin]]
        self.end = [] if end is None else [vocabulary[end]]
        self.pad = None if pad is None else vocabulary[pad]

    def row(self, text: str, pair: str | None = None, truncation: bool | str = False, max_length: int | None = None) -> Row:
        """One text, or a pair, with its special tokens."""
        first = self.vocabulary(self.tokenizer(text))
        second = None if pair is None else self.vocabulary(self.tokenizer(pair))
        if truncation is not False:
            if max_length is None:
                raise ValueError(f"truncation={truncation!r} needs max_length")
            around = len(self.begin) + len(self.end) * (1 if second is None else 2)
            first, second = truncated(first, second, max_length - around, truncation, self.side)
        row = _joined([(self.begin, 0, 1), (first, 0, 0), (self.end, 0, 1)])
        if second is None:
            return row
        more = _joined([(second, 1, 0), (self.end, 1, 1)])
        return Row(row.ids + more.ids, row.types + more.types, row.special + more.special)

    def __call__(
        self,
        texts: str | Sequence[str],
        pairs: str | Sequence[str] | None = None,
        padding: bool | str = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> Encoding:
        """A batch; one text makes a batch of one. With `pairs` each text has a second one."""
        rows = [self.row(text, pair, truncation, max_length) for text, pair in both(texts, pairs)]
        return padded(rows, self.pad, padding, max_length, self.side, pad_to_multiple_of)

    def decode(self, ids: Tensor | Sequence[int], skip_special_tokens: bool = True, joined_by: str = " ") -> str:
        """The text of ids; by default without the special tokens."""
        special = {*self.begin, *self.end, self.pad} if skip_special_tokens else set()
        kept = [index for index in ids_of(ids) if index not in special]
        return joined_by.join(self.vocabulary.lookup_tokens(kept))

    def decode_batch(
        self, ids: Tensor | Sequence[Sequence[int]], skip_special_tokens: bool = True, joined_by: str = " "
    ) -> list[str]:
        """The texts of rows of ids."""
        return [self.decode(row, skip_special_tokens, joined_by) for row in ids]


def both(texts: str | Sequence[str], pairs: str | Sequence[str] | None) -> list[tuple[str, str | None]]:
    """Texts with their second ones, or with None.

    Raises: ValueError for another number of second ones.
    """
    first = [texts] if isinstance(texts, str) else list(texts)
    if pairs is None:
        return [(text, None) for text in first]
    second = [pairs] if isinstance(pairs, str) else list(pairs)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts and {len(second)} second texts do not make pairs")
    return list(zip(first, second, strict=True))


def ids_of(ids: Tensor | Sequence[int]) -> list[int]:
    """The ids of one text.

    Raises: ValueError for those of several.
    """
    listed = ids.tolist() if isinstance(ids, Tensor) else list(ids)
    listed = [listed] if isinstance(listed, int) else listed
    if listed and isinstance(listed[0], list | tuple | Tensor):
        raise ValueError(f"decode: these are the ids of {len(listed)} texts; use decode_batch, or decode a row")
    return listed


def _joined(parts: list[tuple[list[int], int, int]]) -> Row:
    """Ids one after the other, each part of one kind."""
    return Row(
        [index for ids, _, _ in parts for index in ids],
        [kind for ids, kind, _ in parts for _ in ids],
        [special for ids, _, special in parts for _ in ids],
    )
