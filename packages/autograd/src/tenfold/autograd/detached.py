"""The memory of a tensor that `detach_` took out of the graph, while its views and what was computed from it stay there."""

from __future__ import annotations

from typing import Any

from tenfold.tensor.storage import Storage


def leave(tensor: Any) -> None:
    """Give a tensor a version that no node has saved: what saved it as an argument would find it at no place of the graph."""
    alone = tensor._storage is None or tensor._storage.held_once()
    before = tensor.untyped_storage()
    if before.inference:
        return
    if not alone or before.views or before.unlisted:
        tensor._storage = DetachedStorage(before)
        return
    tensor._storage = made = Storage(before.array, before.key)
    made.version, made.detached, made.guarded = before.version + 1, getattr(before, "detached", 0) + 1, before.guarded


class DetachedStorage(Storage):
    """Another's memory for a tensor that left the graph in place: the same but for a version that no node has saved."""

    __slots__ = ("other",)
    other: Storage

    def __init__(self, before: Storage) -> None:
        if before.views or before.unlisted:
            before.guarded = True  # writes must be looked at: these views are still in the graph
        object.__setattr__(self, "other", before.other if isinstance(before, DetachedStorage) else before)
        object.__setattr__(self, "detached", getattr(before, "detached", 0) + 1)

    def __getattr__(self, name: str) -> Any:  # of slots that are never set
        found = getattr(self.other, name)
        return found + self.detached if name == "version" else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.other, name, value - self.detached if name == "version" else value)

    def live_views(self, *holders: Any) -> list[Any]:
        return self.other.live_views(*holders)

    def held_once(self) -> bool:
        return super().held_once() and self.other.held_once()
