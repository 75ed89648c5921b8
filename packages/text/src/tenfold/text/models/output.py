"""What models give back: tensors by name."""

from __future__ import annotations

from typing import Any


class Output:
    """Results by attribute (`out.logits`), by name (`out["logits"]`) or by position among those there are (`out[0]`).

    A name that the model did not compute is None as an attribute.

    >>> out = Output(loss=None, logits=3)
    >>> out.logits, out[0], "loss" in out
    (3, 3, False)
    """

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)

    def of_task(self, **parts: Any) -> Output:
        """A task's results, with what its base model, whose output this is, kept on the way."""
        kept = {name: part for name, part in self.__dict__.items() if name not in ("last_hidden_state", "pooler_output")}
        return Output(**{**parts, **kept, **parts})

    def to_tuple(self) -> tuple[Any, ...]:
        """The results there are, in order."""
        return tuple(part for part in self.__dict__.values() if part is not None)

    def keys(self) -> list[str]:
        """The names of the results there are."""
        return [name for name, part in self.__dict__.items() if part is not None]

    def values(self) -> list[Any]:
        """The results there are."""
        return list(self.to_tuple())

    def items(self) -> list[tuple[str, Any]]:
        """The names and results there are."""
        return self._there()

    def get(self, name: str, default: Any = None) -> Any:
        """The result of this name, or what stands for one that the model did not compute."""
        return self.__dict__[name] if name in self else default

    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, str):
            if key not in self:
                raise KeyError(f"{key!r}; there are {', '.join(self.keys())}")
            return self.__dict__[key]
        return self.to_tuple()[key]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the model's output has no {name!r}; there are {', '.join(self.__dict__)}")

    def __contains__(self, name: object) -> bool:
        return self.__dict__.get(str(name)) is not None

    def __iter__(self) -> Any:
        return iter(self.to_tuple())

    def __len__(self) -> int:
        return len(self.to_tuple())

    def __repr__(self) -> str:
        shown = (
            f"{name}: {tuple(part.shape) if hasattr(part, 'shape') else type(part).__name__}" for name, part in self._there()
        )
        return f"Output({', '.join(shown)})"

    def _there(self) -> list[tuple[str, Any]]:
        return [(name, part) for name, part in self.__dict__.items() if part is not None]
