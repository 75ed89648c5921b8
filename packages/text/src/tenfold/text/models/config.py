"""Sizes and switches of a model, as the published ``config.json`` names them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any, ClassVar, Self

FILE = "config.json"
LABELS = ("num_labels", "id2label", "label2id")


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
    id2label: dict[int, str] | None = None  # the classes' names; LABEL_0, LABEL_1 and so on by default
    label2id: dict[str, int] | None = None
    problem_type: str | None = None  # which loss a text's classes have, where their number and dtype do not say it
    output_hidden_states: bool = False
    output_attentions: bool = False
    return_dict: bool = True
    use_cache: bool = True
    extra: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.id2label is None:
            self._name_labels()
        else:
            self.id2label = {int(number): name for number, name in self.id2label.items()}
            self.__dict__["num_labels"] = len(self.id2label)
        if self.label2id is None:
            self.label2id = {name: number for number, name in (self.id2label or {}).items()}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        names = self.__dict__.get("id2label")
        if name == "num_labels" and names is not None and len(names) != value:
            self._name_labels()

    def _name_labels(self) -> None:
        self.id2label = {number: f"LABEL_{number}" for number in range(self.num_labels)}
        self.label2id = {name: number for number, name in self.id2label.items()}

    def changed(self, changes: dict[str, Any]) -> Self:
        """The configuration with these entries, and what comes of them: labels and their number.

        Raises: TypeError for an entry that there is not.
        """
        for name in changes:
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__} has no entry {name!r}")
        entries = {**self.to_dict(), **changes}
        if "id2label" in changes or "num_labels" in changes:
            entries = {name: value for name, value in entries.items() if name in changes or name not in LABELS}
        return self.from_dict(entries)

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
        return cls(**given, extra={name: value for name, value in values.items() if name not in known})

    @classmethod
    def accepts(cls) -> tuple[str, ...]:
        """The names of the kinds of models that have these entries."""
        return (cls.model_type,)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """The configuration in a ``config.json``."""
        return cls.from_dict(read_json(path))

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike[str], **changes: Any) -> Self:
        """The configuration in a folder, or in a file; `changes` are entries of it.

        Raises: FileNotFoundError; TypeError for an entry that there is not.
        """
        home = Path(folder).expanduser()
        return cls.from_file(home / FILE if home.is_dir() else home).changed(changes)

    def save_pretrained(self, folder: str | os.PathLike[str]) -> None:
        """Write ``config.json`` into a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.save(Path(folder) / FILE)

    def to_dict(self) -> dict[str, Any]:
        """The entries of ``config.json``; labels only where they have names of their own."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "extra"}
        if own["id2label"] == {number: f"LABEL_{number}" for number in range(self.num_labels)}:
            own = {name: value for name, value in own.items() if name not in LABELS[1:]}
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
