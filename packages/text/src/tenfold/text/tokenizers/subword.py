"""Subword tokenizers of the `tokenizers` library: byte-pair encoding, WordPiece, unigram; trained, saved, loaded, batched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenfold import Tensor
from tenfold.text.tokenizers.encoding import Encoding, Row, both, padded, truncated

if TYPE_CHECKING:
    from os import PathLike

KINDS = ("bpe", "wordpiece", "unigram")
_PADS = ("[PAD]", "<pad>", "<|padding|>", "<|pad|>")


class SubwordTokenizer:
    """A tokenizer of the `tokenizers` library (the extra tenfold-text[tokenizers]): trained, or read from files.

    Calling it gives tokens; `encode` and `decode` go between texts and ids; `batch` makes tensors.

    Raises: ImportError when the library is not installed.
    """

    def __init__(self, backend: Any, pad_token: str | None = None, side: str = "right") -> None:
        self.backend = backend
        self.pad_token = pad_token or next((pad for pad in _PADS if backend.token_to_id(pad) is not None), None)
        self.side = side

    @classmethod
    def train(
        cls, texts: Iterable[str], vocab_size: int, special_tokens: Sequence[str] = (), kind: str = "bpe", lowercase: bool = False
    ) -> SubwordTokenizer:
        """Learn a vocabulary of at most `vocab_size` tokens, special ones first.

        `kind`: "bpe" works on bytes as GPT-2 does (at least all 256), "wordpiece" as BERT does, "unigram" as sentencepiece.
        Special tokens named [CLS] and [SEP], or <s> and </s>, are put around texts.

        Raises: ValueError for another kind.
        """
        if kind not in KINDS:
            raise ValueError(f"SubwordTokenizer.train: kind is one of {KINDS}, got {kind!r}")
        library, special = subword_library(), list(special_tokens)
        make = {"bpe": _bpe, "wordpiece": _wordpiece, "unigram": _unigram}[kind]
        backend, trainer = make(library, vocab_size, special)
        if lowercase:
            steps = [step for step in (backend.normalizer, library.normalizers.Lowercase()) if step is not None]
            backend.normalizer = library.normalizers.Sequence(steps)
        backend.train_from_iterator(texts, trainer)
        _surround(library, backend, special)
        return cls(backend)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> SubwordTokenizer:
        """Read a tokenizer from the library's JSON file."""
        return cls(subword_library().Tokenizer.from_file(str(path)))

    @classmethod
    def from_pretrained(cls, folder: str | PathLike[str]) -> SubwordTokenizer:
        """Read a published tokenizer: ``tokenizer.json``, else BERT's ``vocab.txt``, else GPT-2's ``vocab.json`` and its merges.

        The padding token and its side are those of ``tokenizer_config.json``, if it names them.

        Raises: FileNotFoundError where the folder has none of them.
        """
        home = Path(folder)
        options = json.loads(text) if (text := _text_of(home / "tokenizer_config.json")) else {}
        made = cls(cls._backend_of(home, options))
        pad = options.get("pad_token")
        name = pad.get("content") if isinstance(pad, dict) else pad
        if isinstance(name, str) and made.token_to_id(name) is not None:
            made.pad_token = name
        if options.get("padding_side") in ("left", "right"):
            made.side = options["padding_side"]
        return made

    @classmethod
    def _backend_of(cls, home: Path, options: dict[str, Any]) -> Any:
        """The library's tokenizer of a folder's files."""
        if (home / "tokenizer.json").is_file():
            return subword_library().Tokenizer.from_file(str(home / "tokenizer.json"))
        if (home / "vocab.txt").is_file():
            return bert_backend(home / "vocab.txt", bool(options.get("do_lower_case", True)))
        if (home / "vocab.json").is_file() and (home / "merges.txt").is_file():
            return gpt2_backend(home / "vocab.json", home / "merges.txt")
        raise FileNotFoundError(
            f"SubwordTokenizer: {home} has neither tokenizer.json nor vocab.txt nor vocab.json with merges.txt; put one there"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tokenizer to a JSON file."""
        self.backend.save(str(path))

    def save_pretrained(self, folder: str | PathLike[str]) -> None:
        """Write ``tokenizer.json`` into a folder, beside a model's files."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.save(Path(folder) / "tokenizer.json")

    def __call__(self, text: str) -> list[str]:
        return list(self.backend.encode(text).tokens)

    def __len__(self) -> int:
        return int(self.backend.get_vocab_size())

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, None where there is none of this name."""
        found = self.backend.token_to_id(token)
        return None if found is None else int(found)

    def encode(self, text: str, pair: str | None = None, add_special_tokens: bool = True) -> list[int]:
        """The ids of a text's tokens, or of a pair's."""
        return list(self.backend.encode(text, pair, add_special_tokens=add_special_tokens).ids)

    def decode(self, ids: Tensor | Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids."""
        listed = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        return str(self.backend.decode(listed, skip_special_tokens=skip_special_tokens))

    def decode_batch(self, ids: Tensor | Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The texts of rows of ids."""
        return [self.decode(row, skip_special_tokens) for row in (ids.tolist() if isinstance(ids, Tensor) else ids)]

    def batch(
        self,
        texts: str | Sequence[str],
        pairs: str | Sequence[str] | None = None,
        padding: bool | str = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        add_special_tokens: bool = True,
        pad_to_multiple_of: int | None = None,
    ) -> Encoding:
        """Texts, or pairs, as tensors of shape (B, T): ids, masks, types.

        Raises: ValueError where `truncation` lacks `max_length`, or padding has no padding token.
        """
        if truncation is not False and max_length is None:
            raise ValueError(f"truncation={truncation!r} needs max_length")
        self.backend.no_truncation()  # the library keeps all that it cuts off, for pairs each piece with each other
        self.backend.no_padding()  # a published file may switch both on
        given = [text if pair is None else (text, pair) for text, pair in both(texts, pairs)]
        found = self.backend.encode_batch(given, add_special_tokens=add_special_tokens)
        rows = [_row(one, pairs is not None, truncation, max_length) for one in found]
        pad = None if self.pad_token is None else self.token_to_id(self.pad_token)
        return padded(rows, pad, padding, max_length, self.side, pad_to_multiple_of)


def _row(found: Any, is_pair: bool, truncation: bool | str, max_length: int | None) -> Row:
    """What the library made of a text, or of a pair, cut to a length."""
    row = Row(list(found.ids), list(found.type_ids), list(found.special_tokens_mask))
    if truncation is False or max_length is None:
        return row
    whose = found.sequence_ids  # of each token: the first text's (0), the second's (1), put in beside them (None)
    first = [place for place, text in enumerate(whose) if text == 0]
    second = [place for place, text in enumerate(whose) if text == 1] if is_pair else None
    kept = truncated(first, second, max_length - whose.count(None), truncation)
    places = sorted([*kept[0], *(kept[1] or ()), *(place for place, text in enumerate(whose) if text is None)])
    return Row(*([values[place] for place in places] for values in (row.ids, row.types, row.special)))


# Kinds


def _bpe(library: Any, vocab_size: int, special: list[str]) -> tuple[Any, Any]:
    backend = library.Tokenizer(library.models.BPE())
    backend.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = library.decoders.ByteLevel()
    alphabet = sorted(library.pre_tokenizers.ByteLevel.alphabet())
    make = library.trainers.BpeTrainer
    return backend, make(vocab_size=vocab_size, special_tokens=special, initial_alphabet=alphabet, show_progress=False)


def _wordpiece(library: Any, vocab_size: int, special: list[str]) -> tuple[Any, Any]:
    special[:] = special if "[UNK]" in special else [*special, "[UNK]"]
    backend = library.Tokenizer(library.models.WordPiece(unk_token="[UNK]"))
    _as_bert(library, backend, lowercase=False)
    return backend, library.trainers.WordPieceTrainer(vocab_size=vocab_size, special_tokens=special, show_progress=False)


def _unigram(library: Any, vocab_size: int, special: list[str]) -> tuple[Any, Any]:
    special[:] = special if "<unk>" in special else [*special, "<unk>"]
    backend = library.Tokenizer(library.models.Unigram())
    backend.normalizer = library.normalizers.NFKC()
    backend.pre_tokenizer = library.pre_tokenizers.Metaspace()
    backend.decoder = library.decoders.Metaspace()
    make = library.trainers.UnigramTrainer
    return backend, make(vocab_size=vocab_size, special_tokens=special, unk_token="<unk>", show_progress=False)


def _as_bert(library: Any, backend: Any, lowercase: bool, strip_accents: bool | None = None) -> None:
    backend.normalizer = library.normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    backend.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    backend.decoder = library.decoders.WordPiece()


def _surround(library: Any, backend: Any, special: Sequence[str]) -> None:
    """Put the tokens that begin and end texts around them, where the vocabulary has such."""
    for begin, end in (("[CLS]", "[SEP]"), ("<s>", "</s>")):
        if begin in special and end in special:
            numbered = [(token, backend.token_to_id(token)) for token in (begin, end)]
            backend.post_processor = library.processors.TemplateProcessing(
                single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B:1 {end}:1", special_tokens=numbered
            )


# Published files


def bert_backend(
    vocabulary: str | PathLike[str], lowercase: bool = True, strip_accents: bool | None = None, never_split: Sequence[str] = ()
) -> Any:
    """BERT's tokenizer of a ``vocab.txt``."""
    library = subword_library()
    backend = library.Tokenizer(library.models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]"))
    _as_bert(library, backend, lowercase, strip_accents)
    special = [token for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if backend.token_to_id(token) is not None]
    backend.add_special_tokens([*special, *never_split])
    _surround(library, backend, special)
    return backend


def gpt2_backend(vocabulary: str | PathLike[str], merges: str | PathLike[str]) -> Any:
    """GPT-2's tokenizer of a ``vocab.json`` and a ``merges.txt``."""
    library = subword_library()
    backend = library.Tokenizer(library.models.BPE.from_file(str(vocabulary), str(merges)))
    backend.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = library.decoders.ByteLevel()
    backend.add_special_tokens([token for token in ("<|endoftext|>",) if backend.token_to_id(token) is not None])
    return backend


def clip_backend(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> Any:
    """CLIP's tokenizer: lower case, a mark at the end of each word."""
    library = subword_library()
    model = library.models.BPE(vocabulary, merges, end_of_word_suffix="</w>", unk_token="<|endoftext|>")
    backend = library.Tokenizer(model)
    normal, split = library.normalizers, library.pre_tokenizers
    backend.normalizer = normal.Sequence([normal.NFC(), normal.Replace(library.Regex(r"\s+"), " "), normal.Lowercase()])
    words = library.Regex(r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    backend.pre_tokenizer = split.Sequence(
        [split.Split(words, behavior="removed", invert=True), split.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    backend.decoder = library.decoders.ByteLevel()
    backend.add_special_tokens([token for token in ("<|startoftext|>", "<|endoftext|>") if token in vocabulary])
    return backend


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def subword_library() -> Any:
    """The library, with its parts."""
    try:
        import tokenizers
        import tokenizers.decoders
        import tokenizers.models
        import tokenizers.normalizers
        import tokenizers.pre_tokenizers
        import tokenizers.processors
        import tokenizers.trainers
    except ImportError as error:
        raise ImportError(
            'SubwordTokenizer needs the library "tokenizers", an extra of tenfold-text: pip install "tenfold-text[tokenizers]"'
        ) from error
    return tokenizers
