"""The rules between a loader's arguments."""

from __future__ import annotations

from typing import Any


def check_worker_options(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    """Raises: ValueError for negative numbers, and for worker options without workers."""
    if num_workers < 0:
        raise ValueError(f"DataLoader: num_workers option should be non-negative, got {num_workers}; 0 loads in this process")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout option should be non-negative, got {timeout}; 0 waits without limit")
    if prefetch_factor is not None and num_workers == 0:
        raise ValueError("DataLoader: prefetch_factor option needs num_workers > 0; leave it None")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"DataLoader: prefetch_factor option should be non-negative, got {prefetch_factor}")
    if persistent_workers and num_workers == 0:
        raise ValueError("DataLoader: persistent_workers option needs num_workers > 0")


def check_iterable_options(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    """Raises: ValueError when an order is asked of an iterable dataset, which has its own."""
    for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


def check_sampling_options(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    """Raises: ValueError when two arguments decide the same thing."""
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError(
            "DataLoader: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
        )
    if batch_size is None and drop_last:
        raise ValueError("DataLoader: batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def mp_context(value: Any, num_workers: int) -> Any:
    """The multiprocessing context for a context, a start method's name or None.

    Raises: ValueError for an unknown name or without workers; TypeError for other types.
    """
    if value is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "DataLoader: multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            "num_workers=0"
        )
    import multiprocessing  # only with workers
    from multiprocessing.context import BaseContext  # only with workers

    if isinstance(value, BaseContext):
        return value
    if not isinstance(value, str):
        raise TypeError(
            f"DataLoader: multiprocessing_context option should be a valid context object or the name of a start method, but got "
            f"multiprocessing_context={value}"
        )
    methods = multiprocessing.get_all_start_methods()
    if value not in methods:
        raise ValueError(
            f"DataLoader: multiprocessing_context option should specify a valid start method in {methods}, but got "
            f"multiprocessing_context={value!r}"
        )
    return multiprocessing.get_context(value)
