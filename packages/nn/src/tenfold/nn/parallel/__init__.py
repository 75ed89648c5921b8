"""Modules on several devices. With one device, which is what there is here, the module is called as it is."""

from __future__ import annotations

from tenfold.nn.parallel import comm as comm
from tenfold.nn.parallel.data_parallel import DataParallel as DataParallel, data_parallel as data_parallel
from tenfold.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
from tenfold.nn.parallel.parallel_apply import parallel_apply as parallel_apply
from tenfold.nn.parallel.replicate import replicate as replicate
from tenfold.nn.parallel.scatter_gather import gather as gather, scatter as scatter, scatter_kwargs as scatter_kwargs

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]
