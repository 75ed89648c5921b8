"""Settings of all pipes of a graph, `torch.utils.data.graph_settings`: shares of workers, shuffling, seeds."""

from __future__ import annotations

from typing import Any

from tenfold import Generator
from tenfold.data.datapipes import datapipe as pipes
from tenfold.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from tenfold.data.graph import DataPipeGraph, traverse_dps

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_settings", "get_all_graph_pipes"]

apply_shuffle_settings = pipes.apply_shuffle_settings


def get_all_graph_pipes(graph: DataPipeGraph) -> list[Any]:
    """The pipes of a graph, each once, the last of the chain first.

    >>> from tenfold.data.datapipes.iter import IterableWrapper
    >>> get_all_graph_pipes(traverse_dps(IterableWrapper(range(3)).batch(2)))
    [Batcher, IterableWrapper]
    """
    found: dict[int, Any] = {}

    def visit(graph: DataPipeGraph) -> None:
        for key, (pipe, below) in graph.items():
            found.setdefault(key, pipe)
            visit(below)

    visit(graph)
    return list(found.values())


def apply_random_seed(datapipe: Any, rng: Generator) -> Any:
    """Give every pipe that draws a seed of its own, from one generator."""
    return pipes.apply_random_seed(datapipe, rng)


def apply_sharding(
    datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: int = SHARDING_PRIORITIES.DEFAULT
) -> Any:
    """Let the pipes that share out give one instance's items, of those of a group.

    Raises: RuntimeError where one of them reads another: the share of a share leaves items out.
    """

    def visit(graph: DataPipeGraph, above: Any) -> None:
        for pipe, below in graph.values():
            sharing = above
            if callable(getattr(pipe, "apply_sharding", None)):
                if above is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. Sharding already "
                        f"applied to {above} while trying to apply to {pipe}"
                    )
                pipes.share_out(pipe, num_of_instances, instance_id, sharding_group)
                sharing = pipe
            visit(below, sharing)

    visit(traverse_dps(datapipe), None)
    return datapipe
