"""Functions on streams of texts, under torchtext's names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from tenfold.data import Dataset
from tenfold.text.tokenizers.sentencepiece import read_sentencepiece, train_sentencepiece
from tenfold.text.vocab import Vocab

Texts = Callable[[Iterable[str]], Iterator[Any]]


def generate_sp_model(
    filename: str | os.PathLike[str], vocab_size: int = 20000, model_type: str = "unigram", model_prefix: str = "m_user"
) -> None:
    """Train a sentencepiece model on the lines of a text file; writes ``model_prefix.model`` and ``model_prefix.vocab``.

    Raises: ValueError for a model type other than unigram, bpe, word and char; ImportError without sentencepiece.
    """
    train_sentencepiece(filename, vocab_size, model_type, model_prefix)


def load_sp_model(spm: str | os.PathLike[str] | BinaryIO) -> Any:
    """A sentencepiece model of a file: its name, or the file opened to read bytes. It is the library's processor.

    Raises: TypeError for anything else.
    """
    return read_sentencepiece(spm)


def sentencepiece_numericalizer(sp_model: Any) -> Texts:
    """A function from texts to the lists of their ids."""
    return lambda texts: (list(sp_model.encode(text)) for text in texts)


def sentencepiece_tokenizer(sp_model: Any) -> Texts:
    """A function from texts to the lists of their pieces."""
    return lambda texts: (list(sp_model.encode(text, out_type=str)) for text in texts)


def custom_replace(replace_pattern: Iterable[tuple[str, str]]) -> Texts:
    """A function that replaces patterns in texts, one after the other.

    >>> list(custom_replace([("S", "s"), (r"\\s+", " ")])(["A  Sentence"]))
    ['A sentence']
    """
    patterns = [(re.compile(pattern), replacement) for pattern, replacement in replace_pattern]

    def replaced(text: str) -> str:
        for pattern, replacement in patterns:
            text = pattern.sub(replacement, text)
        return text

    return lambda texts: map(replaced, texts)


def simple_space_split(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Texts split at white space.

    >>> list(simple_space_split(["to be", "or not"]))
    [['to', 'be'], ['or', 'not']]
    """
    return (text.split() for text in iterator)


def numericalize_tokens_from_iterator(
    vocab: Vocab | Mapping[str, int], iterator: Iterable[Iterable[str]], removed_tokens: Iterable[str] | None = None
) -> Iterator[Iterator[int]]:
    """For each list of tokens an iterator over their indices, without the tokens to be removed.

    >>> [list(ids) for ids in numericalize_tokens_from_iterator({"a": 0, "b": 1}, [["b", "a"], ["a"]], ["b"])]
    [[0], [0]]
    """
    removed = frozenset(removed_tokens or ())
    for tokens in iterator:
        yield iter([vocab[token] for token in tokens if token not in removed])


_DIGITS = dict(zip("0123456789", "zero one two three four five six seven eight nine".split(), strict=True))
# What a page of Wikipedia's XML dump loses, in this order; what is written after it stands in its place.
_MARKUP = [
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (r"<[^>]*>", ""),
        (r"&lt;ref[^&]*(&gt;|$).*?(&lt;/ref&gt;|$)", " "),
        (r"&amp;", "&"),
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        (r"<[^>]*>", ""),
        (r"\[https?:[^\] ]*", "["),
        (r"\|(thumb|left|right|\d+px)\b", ""),
        (r"\[\[image:[^\[\]]*\|", ""),
        (r"\[\[category:([^|\]]*)[^\]]*\]\]", r"\1"),
        (r"\[\[[a-z\-]*:[^\]]*\]\]", ""),
        (r"\[\[[^|\]]*\|", "[["),
        (r"\{\{[^}]*\}\}", ""),
        (r"\{[^}]*\}", ""),
        (r"[\[\]]", ""),
        (r"&[^;\s]*;", " "),
    )
]


def filter_wikipedia_xml(text_iterator: Iterable[str]) -> Iterator[str]:
    """The running text of the lines of a Wikipedia dump: lower-case words a to z with one space between, digits spelled out.

    Lines of markup only are left out. Source: M. Mahoney, http://mattmahoney.net/dc/textdata.html, appendix A.

    >>> list(filter_wikipedia_xml(["<text>In [[1984 (year)|1984]] it was.</text>", "#REDIRECT [[A]]"]))
    ['in one nine eight four it was']
    """
    for line in text_iterator:
        if "#redirect" in line.lower():
            continue
        text = line.lower()
        for pattern, replacement in _MARKUP:
            text = pattern.sub(replacement, text)
        text = re.sub(r"\d", lambda digit: f" {_DIGITS[digit.group()]} ", text)
        text = " ".join(re.sub(r"[^a-z]+", " ", text).split())
        if text:
            yield text


class _Listed(Dataset[Any]):
    def __init__(self, samples: Iterable[Any]) -> None:
        self._samples = list(samples)

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Any:
        return self._samples[index]


def to_map_style_dataset(iter_data: Iterable[Any]) -> Dataset[Any]:
    """The samples of an iterable as a dataset with indices and a length; they are all kept in memory.

    >>> to_map_style_dataset(iter("abc"))[1]
    'b'
    """
    return _Listed(iter_data)
