"""Stores of keys and values, by which processes of a group find one another; here those of a group of one process."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence
from typing import Any

from tenfold.as_torch.stand_ins.distributed.errors import DistStoreError

_ALONE = (
    "a store that several processes share is in the package tenfold-distributed, which is not installed; "
    "a group of one process (world_size=1) has one"
)


class Store:
    """Keys and their values, as bytes; what waits for a key waits for another thread.

    >>> store = HashStore()
    >>> store.set("name", "value")
    >>> store.get("name"), store.add("count", 2), store.add("count", 3)
    (b'value', 2, 5)
    """

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self._timeout = datetime.timedelta(seconds=300)

    def set(self, key: str, value: str | bytes) -> None:
        """Keep a value."""
        with self._changed:
            self._values[key] = value.encode() if isinstance(value, str) else bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of a key, waited for."""
        self.wait([key])
        return self._values[key]

    def add(self, key: str, amount: int) -> int:
        """The number under a key, 0 at first, with the amount added to it."""
        with self._changed:
            total = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
        return total

    def append(self, key: str, value: str | bytes) -> None:
        """Put a value behind the one that is there."""
        with self._changed:
            self._values[key] = self._values.get(key, b"") + (value.encode() if isinstance(value, str) else value)
            self._changed.notify_all()

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Replace a value that is the expected one (or missing, with an empty one expected); the value then."""
        with self._changed:
            held = self._values.get(key)
            if (held or b"") == expected_value.encode():
                self._values[key] = desired_value.encode()
                self._changed.notify_all()
            return self._values.get(key, expected_value.encode())

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        return all(key in self._values for key in keys)

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
        """Wait until all keys are there; DistStoreError after the time-out."""
        limit = self._timeout if timeout is None else timeout
        with self._changed:
            if self._changed.wait_for(lambda: self.check(keys), limit.total_seconds()):
                return
        raise DistStoreError(f"wait timeout after {int(limit.total_seconds() * 1000)}ms, keys: {', '.join(keys)}")

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """The number of keys."""
        return len(self._values)

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """How long to wait for a key."""
        self._timeout = timeout

    @property
    def timeout(self) -> datetime.timedelta:
        return self._timeout


class HashStore(Store):
    """The store of one process."""


class TCPStore(Store):
    """The store that a process serves to others; NotImplementedError unless the group is this process alone."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: datetime.timedelta | None = None,
        **options: Any,
    ) -> None:
        if world_size != 1 and not (world_size is None and is_master):
            raise NotImplementedError(f"TCPStore: {_ALONE}")
        super().__init__()
        self.host, self.port = host_name, port
        if timeout is not None:
            self._timeout = timeout


class PrefixStore(Store):
    """Another store's keys that begin with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self._prefix, self._values, self._changed = prefix + "/", _Prefixed(prefix + "/", store._values), store._changed


class _Prefixed(dict[str, bytes]):
    """A view of a dictionary's keys below a prefix."""

    def __init__(self, prefix: str, held: dict[str, bytes]) -> None:
        super().__init__()
        self._prefix, self._held = prefix, held

    def __getitem__(self, key: str) -> bytes:
        return self._held[self._prefix + key]

    def __setitem__(self, key: str, value: bytes) -> None:
        self._held[self._prefix + key] = value

    def __contains__(self, key: object) -> bool:
        return f"{self._prefix}{key}" in self._held

    def __len__(self) -> int:
        return sum(key.startswith(self._prefix) for key in self._held)

    def get(self, key: str, default: Any = None) -> Any:
        return self._held.get(self._prefix + key, default)

    def pop(self, key: str, default: Any = None) -> Any:
        return self._held.pop(self._prefix + key, default)
