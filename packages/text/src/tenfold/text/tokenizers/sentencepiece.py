"""Sentencepiece files: the `.model` of T5, Llama and their kin, read and trained by the library of that name."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

from tenfold import Tensor
from tenfold.text.tokenizers.encoding import Encoding, Row, both, ids_of, padded, truncated

MODEL_TYPES = ("unigram", "bpe", "word", "char")


class SentencePiece:
    """A sentencepiece model (the extra tenfold-text[sentencepiece]), with `begin` and `end` tokens put around texts on request.

    `pad` is the id of padding, by default the model's own; many models have none.

    Calling it gives the pieces of a text; `encode` and `decode` go between texts and ids; `batch` makes tensors.

    Raises: ImportError when the library is not installed; OSError or RuntimeError for a file that is none.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        begin: bool = False,
        end: bool = False,
        side: str = "right",
        pad: int | None = None,
    ) -> None:
        library = sentencepiece_library()
        named = {"model_proto": source} if isinstance(source, bytes) else {"model_file": os.fspath(source)}
        try:
            self.backend = library.SentencePieceProcessor(**named)
        except RuntimeError as error:
            what = f"{len(source)} bytes" if isinstance(source, bytes) else os.fspath(source)
            raise RuntimeError(f"SentencePiece: {what}: no sentencepiece model ({error}); give a published .model file") from None
        self.begin = [int(self.backend.bos_id())] if begin and self.backend.bos_id() >= 0 else []
        self.end = [int(self.backend.eos_id())] if end and self.backend.eos_id() >= 0 else []
        own = int(self.backend.pad_id())
        self.pad = pad if pad is not None else own if own >= 0 else None
        self.side = side

    def __call__(self, text: str) -> list[str]:
        return list(self.backend.encode(text, out_type=str))

    def __len__(self) -> int:
        return int(self.backend.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """The ids of a text's pieces, between begin and end where they are asked for."""
        return [*self.begin, *self.backend.encode(text), *self.end]

    def decode(self, ids: Tensor | Sequence[int]) -> str:
        """The text of ids."""
        return str(self.backend.decode(ids_of(ids)))

    def decode_batch(self, ids: Tensor | Sequence[Sequence[int]]) -> list[str]:
        """The texts of rows of ids."""
        return [self.decode(row) for row in ids]

    def batch(
        self,
        texts: str | Sequence[str],
        pairs: str | Sequence[str] | None = None,
        padding: bool | str = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> Encoding:
        """Texts, or pairs, as tensors of shape (B, T); begin and end stand around every text."""
        rows = [self._row(text, pair, truncation, max_length) for text, pair in both(texts, pairs)]
        return padded(rows, self.pad, padding, max_length, self.side, pad_to_multiple_of)

    def _row(self, text: str, pair: str | None, truncation: bool | str, max_length: int | None) -> Row:
        first, second = list(self.backend.encode(text)), None if pair is None else list(self.backend.encode(pair))
        if truncation is not False:
            if max_length is None:
                raise ValueError(f"truncation={truncation!r} needs max_length")
            around = (len(self.begin) + len(self.end)) * (1 if second is None else 2)
            first, second = truncated(first, second, max_length - around, truncation, self.side)
        ids: list[int] = []
        types: list[int] = []
        special: list[int] = []
        for kind, part in enumerate([first] if second is None else [first, second]):
            ids += [*self.begin, *part, *self.end]
            special += [1] * len(self.begin) + [0] * len(part) + [1] * len(self.end)
            types += [kind] * (len(ids) - len(types))
        return Row(ids, types, special)


def train_sentencepiece(
    filename: str | os.PathLike[str], vocab_size: int, model_type: str, model_prefix: str, **options: Any
) -> None:
    """Learn a model of the lines of a text file; writes ``model_prefix.model`` and ``.vocab``.

    Raises: ValueError for a model type other than unigram, bpe, word and char.
    """
    if model_type not in MODEL_TYPES:
        raise ValueError(f"sentencepiece: model_type is one of {MODEL_TYPES}, got {model_type!r}")
    with open(filename, encoding="utf-8") as lines:
        sentencepiece_library().SentencePieceTrainer.train(
            sentence_iterator=(line.rstrip("\n") for line in lines),
            vocab_size=vocab_size,
            model_type=model_type,
            model_prefix=model_prefix,
            minloglevel=2,
            **options,
        )


def read_sentencepiece(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The library's processor of a file, given by name or open.

    Raises: TypeError for anything else.
    """
    library = sentencepiece_library()
    if isinstance(source, (str, os.PathLike)):
        return library.SentencePieceProcessor(model_file=os.fspath(source))
    if isinstance(source, (io.BufferedReader, io.BytesIO)):
        return library.SentencePieceProcessor(model_proto=source.read())
    raise TypeError(f"Unsupported type for spm argument: {type(source).__name__}. Supported types are: str, io.BufferedReader")


def sentencepiece_library() -> Any:
    """The library."""
    try:
        import sentencepiece
    except ImportError as error:
        raise ImportError(
            'this needs the library "sentencepiece", an extra of tenfold-text: pip install "tenfold-text[sentencepiece]"'
        ) from error
    return sentencepiece
