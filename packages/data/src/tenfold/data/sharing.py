"""How a loader's workers share a pipe out when the program has not: each item comes from exactly one of them.

A `Shard` that the program placed anywhere below decides; so does a stream of the program's own at the bottom, which may ask
`get_worker_info`. Otherwise one is put in: as far down as the items stay the same whoever makes them, so that the costly work
above it is shared, and above what counts items (take, enumerate, zip, concat, repeat).
PyTorch's data pipes are shared out where a program says so (`sharding_filter`).
"""

from __future__ import annotations

import copy
from typing import Any

from tenfold.data.datapipes.datapipe import IterDataPipe, apply_sharding
from tenfold.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from tenfold.data.dataset import IterableDataset
from tenfold.data.pipes import Batch, Cache, Filter, FlatMap, Map, Pipe, Prefetch, Shard, Shuffle, below
from tenfold.data.worker_info import get_worker_info

# What may stand above a share: nothing in it depends on the items of the other workers.
_SHARED_BELOW = (Map, Filter, FlatMap, Cache, Prefetch, Shuffle, Batch)


def shared_out(pipe: Any) -> Any:
    """The pipe as one worker iterates it.

    >>> from tenfold.data.pipes import FromIterable
    >>> type(shared_out(FromIterable(range(4)).map(str)).source).__name__
    'Shard'
    """
    worker = get_worker_info()
    if isinstance(pipe, IterDataPipe) and worker is not None:
        return apply_sharding(pipe, worker.num_workers, worker.id, SHARDING_PRIORITIES.MULTIPROCESSING)
    if not isinstance(pipe, Pipe):
        return pipe
    for part in below(pipe):
        if isinstance(part, Shard) or (isinstance(part, IterableDataset) and not isinstance(part, Pipe)):
            return pipe
    return _with_shard(pipe)


def _with_shard(pipe: Pipe[Any]) -> Pipe[Any]:
    if type(pipe) not in _SHARED_BELOW or (isinstance(pipe, Batch) and pipe.drop_last):
        return Shard(pipe)
    source = pipe.source  # type: ignore[attr-defined] # all of these have one
    above = copy.copy(pipe)
    above.source = _with_shard(source) if isinstance(source, Pipe) else Shard(source)  # type: ignore[attr-defined]
    return above
