"""Tokenizers as modules: a text, or a list of texts, to tokens or to ids written as strings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tenfold import nn
from tenfold.text.tokenizers.sentencepiece import read_sentencepiece
from tenfold.text.tokenizers.subword import bert_backend, clip_backend, gpt2_backend, subword_library

Name = str | os.PathLike[str]


class _Texts(nn.Module):
    """A module from a text to a list, which takes lists of texts too."""

    def forward(self, input: Any) -> Any:
        if isinstance(input, str):
            return self._of(input)
        if isinstance(input, list | tuple):
            return [self._of(text) for text in input]
        raise TypeError(f"{type(self).__name__}: Input type not supported; expected a text or a list, got {type(input).__name__}")

    def _of(self, text: str) -> list[str]:
        raise NotImplementedError


class SentencePieceTokenizer(_Texts):
    """Pieces of a sentencepiece model's file."""

    def __init__(self, sp_model_path: Name) -> None:
        super().__init__()
        self.sp_model = read_sentencepiece(sp_model_path)

    def _of(self, text: str) -> list[str]:
        return list(self.sp_model.encode(text, out_type=str))


class _Backed(_Texts):
    """What a tokenizer of the library finds: tokens, or ids as strings."""

    def __init__(self, backend: Any, return_tokens: bool) -> None:
        super().__init__()
        self.backend, self._return_tokens = backend, return_tokens

    def _of(self, text: str) -> list[str]:
        found = self.backend.encode(text, add_special_tokens=False)
        return list(found.tokens) if self._return_tokens else [str(index) for index in found.ids]

    def decode(self, tokens: Sequence[str]) -> str:
        """The text of ids that are written as strings."""
        return str(self.backend.decode([int(token) for token in tokens], skip_special_tokens=False))

    def add_special_tokens(self, special_tokens_dict: Mapping[str, Any]) -> int:
        """Make tokens special: they are found whole; gives the number of those that are new.

        The names are those of transformers: `unk_token`, `sep_token`, ..., and the list `additional_special_tokens`.
        """
        tokens: list[str] = []
        for value in special_tokens_dict.values():
            tokens += [value] if isinstance(value, str) else list(value)
        before = self.backend.get_vocab_size()
        self.backend.add_special_tokens(tokens)
        return int(self.backend.get_vocab_size() - before)


class GPT2BPETokenizer(_Backed):
    """GPT-2's byte-pair tokenizer of a JSON vocabulary and a file of merges."""

    def __init__(self, encoder_json_path: Name, vocab_bpe_path: Name, return_tokens: bool = False) -> None:
        super().__init__(gpt2_backend(encoder_json_path, vocab_bpe_path), return_tokens)


class CLIPTokenizer(_Backed):
    """CLIP's tokenizer of a file of merges; without a vocabulary ids are CLIP's: bytes, bytes that end words, merges."""

    def __init__(
        self, merges_path: Name, encoder_json_path: Name | None = None, num_merges: int | None = None, return_tokens: bool = False
    ) -> None:
        merges = _merges(merges_path)[:num_merges]
        if encoder_json_path is None:
            vocabulary = _clip_vocabulary(merges)
        else:
            vocabulary = json.loads(Path(encoder_json_path).read_text(encoding="utf-8"))
        super().__init__(clip_backend(vocabulary, merges), return_tokens)


def _merges(path: Name) -> list[tuple[str, str]]:
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    pairs = [line.split() for line in lines[lines[0].startswith(("#version", '"bpe_simple')) :]]
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]


def _clip_vocabulary(merges: list[tuple[str, str]]) -> dict[str, int]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [chr(256 + place) for place in range(256 - len(printable))]  # bytes without a character of their own, in order
    letters = [chr(byte) for byte in printable] + others
    tokens = [*letters, *(letter + "</w>" for letter in letters), *(a + b for a, b in merges)]
    return {token: index for index, token in enumerate([*tokens, "<|startoftext|>", "<|endoftext|>"])}


class BERTTokenizer(_Backed):
    """BERT's WordPiece tokenizer of a ``vocab.txt``."""

    def __init__(
        self,
        vocab_path: Name,
        do_lower_case: bool = True,
        strip_accents: bool | None = None,
        return_tokens: bool = False,
        never_split: Sequence[str] | None = None,
    ) -> None:
        super().__init__(bert_backend(vocab_path, do_lower_case, strip_accents, never_split or ()), return_tokens)


class CharBPETokenizer(_Backed):
    """Byte-pair encoding of characters, as of the first GPT: words at white space and marks, a suffix at each word's end."""

    def __init__(
        self,
        bpe_encoder_path: Name,
        bpe_merges_path: Name,
        return_tokens: bool = False,
        unk_token: str | None = None,
        suffix: str | None = None,
        special_tokens: Sequence[str] | None = None,
    ) -> None:
        library = subword_library()
        vocabulary = json.loads(Path(bpe_encoder_path).read_text(encoding="utf-8"))
        model = library.models.BPE(vocabulary, _merges(bpe_merges_path), unk_token=unk_token, end_of_word_suffix=suffix)
        backend = library.Tokenizer(model)
        backend.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
        backend.decoder = library.decoders.BPEDecoder(suffix=suffix or "")
        backend.add_special_tokens(list(special_tokens or ()))
        super().__init__(backend, return_tokens)


class RegexTokenizer(_Texts):
    """Replaces patterns one after the other, then splits at white space.

    >>> RegexTokenizer([(r",", " , "), ("x", "")])("a,bx")
    ['a', ',', 'b']
    """

    def __init__(self, patterns_list: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.patterns_list = list(patterns_list)
        self._compiled = [(re.compile(pattern), replacement) for pattern, replacement in patterns_list]

    def _of(self, text: str) -> list[str]:
        for pattern, replacement in self._compiled:
            text = pattern.sub(replacement, text)
        return text.split()
