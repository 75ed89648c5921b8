"""Sizes and switches of a model, as the published ``config.json`` names them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any, ClassVar, Self


@dataclasses.dataclass(kw_only=True)
class Config:
    """What all models have; what a file says beyond the fields is kept in `extra` and written back."""

    model_type: ClassVar[str] = ""
    vocab_size: int = 0
    pad_token_id: int | None = None
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None
    decoder_start_token_id: int | None = None
    tie_word_embeddings: bool = True
    initializer_range: float = 0.02
    num_labels: int = 2
    extra: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The configuration of a published one's entries.

        Raises: ValueError for that of another kind of model.
        """
        kind = values.get("model_type", cls.model_type)
        if cls.model_type and kind not in cls.accepts():
            raise ValueError(f"{cls.__name__}: this is the configuration of {kind!r}, expected {' or '.join(cls.accepts())}")
        known = {field.name for field in dataclasses.fields(cls)} - {"extra"}
        given = {name: value for name, value in values.items() if name in known}
        if "num_labels" not in given and values.get("id2label"):
            given["num_labels"] = len(values["id2label"])
        return cls(**given, extra={name: value for name, value in values.items() if name not in known})

    @classmethod
    def accepts(cls) -> tuple[str, ...]:
        """The names of the kinds of models that have these entries."""
        return (cls.model_type,)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """The configuration in a ``config.json``."""
        return cls.from_dict(read_json(path))

    def to_dict(self) -> dict[str, Any]:
        """The entries of ``config.json``."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "extra"}
        kind = {"model_type": self.extra.get("model_type", self.model_type)}
        return {**self.extra, **own, **kind}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``config.json``."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n", encoding="utf-8")

    @property
    def end_ids(self) -> list[int]:
        """The ids that end a text."""
        found = self.eos_token_id
        return [] if found is None else list(found) if isinstance(found, list) else [found]


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The entries of a file.

    Raises: ValueError, which names the file, where it is no JSON object.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)} is no JSON: {error}; use another copy") from error
    if not isinstance(found, dict):
        raise ValueError(f"{os.fspath(path)} is no JSON object of entries by name; use another copy")
    return found
