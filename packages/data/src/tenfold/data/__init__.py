"""Datasets, samplers and the loader: PyTorch's `torch.utils.data`."""

from __future__ import annotations

from tenfold.data import datapipes, graph, graph_settings
from tenfold.data.collation import collate, default_collate, default_collate_fn_map, default_convert
from tenfold.data.datapipes.datapipe import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe
from tenfold.data.dataset import ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset
from tenfold.data.distributed import DistributedSampler
from tenfold.data.loader import DataLoader
from tenfold.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from tenfold.data.split import random_split
from tenfold.data.worker_info import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "collate",
    "default_collate",
    "default_collate_fn_map",
    "datapipes",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "graph",
    "graph_settings",
    "random_split",
]
