"""Subword tokenizers of the `tokenizers` library: byte-pair encoding, WordPiece, unigram; trained, saved, loaded, batched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenfold import Tensor
from tenfold.text.tokenizers.encoding import Encoding, Row, both, ids_of, padded, truncated

if TYPE_CHECKING:
    from os import PathLike

CONFIG = "tokenizer_config.json"
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
        self.truncation_side = "right"

    @classmethod
    def train(
        cls, texts: Iterable[str], vocab_size: int, special_tokens: Sequence[str] = (), kind: str = "bpe", lowercase: bool = False
    ) -> SubwordTokenizer:
        """Learn a vocabulary of at most `vocab_size` tokens, special ones first.

        `kind`: "bpe" works on bytes as GPT-2 does (at least all 256), "wordpiece" as BERT does, "unigram" as sentencepiece.
        Special tokens named [CLS] and [SEP], or <s> and </s>, are put around texts.

        Raises: ValueError for another kind; TypeError for one str, which has letters, not texts.
        """
        if isinstance(texts, str):
            raise TypeError("SubwordTokenizer.train: expected several texts, got one str; put it into a list")
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
        """Read a tokenizer from the library's JSON file.

        Raises: FileNotFoundError; ValueError, which names the file, where it is none of these.
        """
        return cls(_read(Path(path)))

    @classmethod
    def from_pretrained(cls, folder: str | PathLike[str]) -> SubwordTokenizer:
        """Read a published tokenizer: ``tokenizer.json``, else BERT's ``vocab.txt``, else GPT-2's ``vocab.json`` and its merges.

        The padding token, its side and the side that is cut are those of ``tokenizer_config.json``, if it names them.

        Raises: FileNotFoundError where the folder has none of them.
        """
        home = Path(folder)
        options = json.loads(text) if (text := _text_of(home / CONFIG)) else {}
        made = cls(cls._backend_of(home, options))
        pad = options.get("pad_token")
        name = pad.get("content") if isinstance(pad, dict) else pad
        if isinstance(name, str) and made.token_to_id(name) is not None:
            made.pad_token = name
        if options.get("padding_side") in ("left", "right"):
            made.side = options["padding_side"]
        if options.get("truncation_side") in ("left", "right"):
            made.truncation_side = options["truncation_side"]
        return made

    @classmethod
    def _backend_of(cls, home: Path, options: dict[str, Any]) -> Any:
        """The library's tokenizer of a folder's files."""
        if (home / "tokenizer.json").is_file():
            return _read(home / "tokenizer.json")
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
        """Write ``tokenizer.json`` and ``tokenizer_config.json`` into a folder, beside a model's files."""
        home = Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        self.save(home / "tokenizer.json")
        sides = {"padding_side": self.side, "truncation_side": self.truncation_side}
        said = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": self.pad_token, **sides}
        (home / CONFIG).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")

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
        return str(self.backend.decode(ids_of(ids), skip_special_tokens=skip_special_tokens))

    def decode_batch(self, ids: Tensor | Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The texts of rows of ids."""
        return [self.decode(row, skip_special_tokens) for row in ids]

    def batch(
        self,
        texts: str | Sequence[Any],
        pairs: str | Sequence[Any] | None = None,
        padding: bool | str = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        add_special_tokens: bool = True,
        pad_to_multiple_of: int | None = None,
        return_offsets_mapping: bool = False,
        is_split_into_words: bool = False,
    ) -> Encoding:
        """Texts, or pairs, as tensors of shape (B, T): ids, masks, types.

        With `return_offsets_mapping` the result's `offset_mapping` says of which characters each token is, and `word_ids` of
        which word. With `is_split_into_words` each text is a list of its words, in which offsets begin anew.

        Raises: ValueError where `truncation` lacks `max_length`, or padding has no padding token; TypeError for what is no text.
        """
        if truncation is not False and max_length is None:
            raise ValueError(f"truncation={truncation!r} needs max_length")
        self.backend.no_truncation()  # the library keeps all that it cuts off, for pairs each piece with each other
        self.backend.no_padding()  # a published file may switch both on
        given = [text if pair is None else (text, pair) for text, pair in both(texts, pairs)]
        try:
            found = self.backend.encode_batch(given, is_split_into_words, add_special_tokens)
        except TypeError as error:
            kinds = ", ".join(sorted({type(part).__name__ for part in texts}))
            wanted = "lists of words (str)" if is_split_into_words else "texts (str)"
            raise TypeError(f"SubwordTokenizer.batch: got {kinds}, expected {wanted}") from error
        rows = [self._row(one, truncation, max_length, return_offsets_mapping) for one in found]
        pad = None if self.pad_token is None else self.token_to_id(self.pad_token)
        if pad is None and self.pad_token is not None:
            raise ValueError(f"SubwordTokenizer: the padding token {self.pad_token!r} is not in the vocabulary; set pad_token")
        return padded(rows, pad, padding, max_length, self.side, pad_to_multiple_of)

    def _row(self, found: Any, truncation: bool | str, max_length: int | None, located: bool) -> Row:
        """What the library made of a text, or of a pair, cut to a length."""
        row = Row(list(found.ids), list(found.type_ids), list(found.special_tokens_mask))
        if located:
            row.offsets, row.words = list(found.offsets), list(found.word_ids)
        if truncation is False or max_length is None:
            return row
        whose = found.sequence_ids  # of each token: the first text's (0), the second's (1), put in beside them (None)
        first, second = ([place for place, text in enumerate(whose) if text == number] for number in (0, 1))
        kept = truncated(first, second, max_length - whose.count(None), truncation, self.truncation_side)
        places = sorted([*kept[0], *(kept[1] or ()), *(place for place, text in enumerate(whose) if text is None)])
        parts = (row.ids, row.types, row.special, row.offsets, row.words)
        return Row(*(None if values is None else [values[place] for place in places] for values in parts))  # type: ignore[arg-type]


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


def _read(path: Path) -> Any:
    """The library's tokenizer of its JSON file."""
    if not path.is_file():
        raise FileNotFoundError(f"SubwordTokenizer: there is no {path}; give a tokenizer.json")
    library = subword_library()
    try:
        return library.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower one
        raise ValueError(f"SubwordTokenizer: {path} is no tokenizer.json ({error}); use another copy") from error


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
