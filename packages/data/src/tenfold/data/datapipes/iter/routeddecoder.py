"""Files decoded by the endings of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tenfold.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from tenfold.data.datapipes.utils.decoder import Decoder, basichandlers, extension_extract_fn, imagehandler

__all__ = ["RoutedDecoder"]


@functional_datapipe("routed_decode")
class RoutedDecoder(IterDataPipe[Any]):
    """Pairs of a path and what its open file holds, decoded by the first handler that takes the path's ending.

    A handler is called with the ending and the bytes, and returns None for what it does not decode; without any, texts, numbers,
    JSON, pickles and pictures (as float tensors of channels, height, width) are. The files are closed.

    >>> import io
    >>> list(RoutedDecoder([("a.json", io.BytesIO(b'{"x": 1}'))]))
    [('a.json', {'x': 1})]
    """

    def __init__(
        self,
        datapipe: Iterable[Any],
        *handlers: Callable[..., Any],
        key_fn: Callable[[str], str] = extension_extract_fn,
    ) -> None:
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers, imagehandler("torch"))), key_fn=key_fn)

    def add_handler(self, *handlers: Callable[..., Any]) -> None:
        """Ask more handlers, after those there are."""
        self.decoder.add_handler(*handlers)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for data in self.datapipe:
            if not isinstance(data, tuple) or len(data) != 2:
                raise TypeError(f"routed_decode: pathname binary data should be a tuple of two, but got {data!r}")
            result = self.decoder(data)
            yield data[0], result[data[0]]

    def __len__(self) -> int:
        return self._length_of(self.datapipe)
