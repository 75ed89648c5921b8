"""`tenfold.data` under PyTorch's path `torch.utils.data`: its modules are the same objects under both names.

PyTorch's modules that are called otherwise here, such as `dataloader`, show what our files of that purpose define.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import tenfold.data
from tenfold.data import collation, fetch, fetchers, foreign, foreign_workers, iterators, loader, sampler, split, worker_info
from tenfold.data.datapipes import datapipe, iter as iter_pipes, map as map_pipes

if TYPE_CHECKING:
    from tenfold.data import *  # noqa: F403 - it is the same module under another name

# PyTorch's modules, each with our names of what it shows under PyTorch's.
_SHOWN: dict[str, dict[str, Any]] = {
    "dataloader": {
        "DataLoader": loader.DataLoader,
        "_BaseDataLoaderIter": iterators.LoaderIterator,
        "_SingleProcessDataLoaderIter": foreign.LocalPass,
        "_MultiProcessingDataLoaderIter": foreign.WorkerPass,
        "_DatasetKind": fetchers.KindWithFetchers,
        "_InfiniteConstantSampler": sampler.EndlessSampler,
        "_sharding_worker_init_fn": foreign_workers.share_in_worker,
        "IterableDataset": tenfold.data.IterableDataset,
        "Dataset": tenfold.data.Dataset,
        "BatchSampler": sampler.BatchSampler,
        "RandomSampler": sampler.RandomSampler,
        "Sampler": sampler.Sampler,
        "SequentialSampler": sampler.SequentialSampler,
        "default_collate": collation.default_collate,
        "default_convert": collation.default_convert,
        "get_worker_info": worker_info.get_worker_info,
        "_collate_fn_t": Callable[[list[Any]], Any],
        "_worker_init_fn_t": Callable[[int], None],
        "_T_co": tenfold.data.dataset.T_co,
    },
    "_utils": {"MP_STATUS_CHECK_INTERVAL": foreign_workers.INTERVAL_S, "python_exit_status": False, "HAS_NUMPY": True},
    "_utils.signal_handling": dict.fromkeys(
        "_set_worker_signal_handlers _set_worker_pids _remove_worker_pids _set_SIGCHLD_handler "
        "_error_if_any_worker_fails".split(),
        foreign_workers.no_signals,
    ),
    "_utils.collate": {
        "collate": collation.collate,
        "default_collate": collation.default_collate,
        "default_collate_fn_map": collation.default_collate_fn_map,
        "default_convert": collation.default_convert,
        "collate_tensor_fn": collation._collate_tensors,
        "collate_numpy_array_fn": collation._collate_arrays,
        "collate_numpy_scalar_fn": collation._collate_numpy_scalars,
        "collate_float_fn": collation._collate_floats,
        "collate_int_fn": collation._collate_ints,
        "collate_str_fn": collation._collate_strings,
        "np_str_obj_array_pattern": re.compile(r"[SaUO]"),  # in the names of NumPy's dtypes that stay arrays
    },
    "_utils.fetch": {
        "make_fetch": fetch.make_fetch,
        "_BaseDatasetFetcher": fetchers.BaseFetcher,
        "_MapDatasetFetcher": fetchers.MapFetcher,
        "_IterableDatasetFetcher": fetchers.StreamFetcher,
    },
    "_utils.pin_memory": {"pin_memory": foreign_workers.pin_memory, "_pin_memory_loop": foreign_workers.pinning_loop},
}
# The files of PyTorch's pipes, each with the pipes that it defines.
_ITER_PIPES = {
    "callable": "Collator Mapper",
    "combinatorics": "Sampler Shuffler",
    "combining": "Concater Demultiplexer Forker Multiplexer Zipper",
    "filelister": "FileLister",
    "fileopener": "FileOpener",
    "grouping": "Batcher Grouper UnBatcher",
    "selecting": "Filter",
    "streamreader": "StreamReader",
    "utils": "IterableWrapper",
}
_MAP_PIPES = {
    "callable": "Mapper",
    "combinatorics": "Shuffler",
    "combining": "Concater Zipper",
    "grouping": "Batcher",
    "utils": "SequenceWrapper",
}


def _show(path: str, names: dict[str, Any]) -> None:
    """Make a module of PyTorch's importable below both names of ours."""
    shown = ModuleType(f"{tenfold.data.__name__}.{path}", f"PyTorch's path of {', '.join(names)}.")
    shown.__dict__.update(names)
    shown.__spec__ = ModuleSpec(shown.__name__, None)  # for importlib.util.find_spec, which refuses a loaded module without one
    if path == "_utils":
        shown.__path__ = []
    _place(path, shown)


def _place(path: str, module: ModuleType) -> None:
    parent, _, leaf = path.rpartition(".")
    if not hasattr(builtins, leaf):  # `callable`, which the pipes call
        setattr(importlib.import_module(f"tenfold.data.{parent}") if parent else tenfold.data, leaf, module)
    sys.modules[f"tenfold.data.{path}"] = sys.modules[f"{_SameModules.prefix}{path}"] = module


class _SameModules(MetaPathFinder, Loader):
    """Answers `import tenfold.utils.data.sampler` with the module `tenfold.data.sampler`."""

    prefix = "tenfold.utils.data."

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        ours = fullname.startswith(self.prefix) and importlib.util.find_spec(self._same(fullname)) is not None
        return ModuleSpec(fullname, self) if ours else None

    def create_module(self, spec: ModuleSpec) -> Any:
        module = importlib.import_module(self._same(spec.name))
        self.own = (module, module.__spec__)
        return module

    def exec_module(self, module: Any) -> None:
        module.__spec__ = self.own[1]  # the import put the other name's there

    def _same(self, name: str) -> str:
        return "tenfold.data." + name.removeprefix(self.prefix)


sys.meta_path.insert(0, _SameModules())
sys.modules[__name__] = tenfold.data
for _path, _names in _SHOWN.items():
    _show(_path, _names)
map_pipes.__path__ = []  # a package in PyTorch
for _kind, _pipes, _suffix in ((iter_pipes, _ITER_PIPES, "IterDataPipe"), (map_pipes, _MAP_PIPES, "MapDataPipe")):
    for _path, _classes in _pipes.items():
        _shown = {f"{name}{_suffix}": getattr(_kind, name) for name in _classes.split()}
        _show(f"{_kind.__name__.removeprefix('tenfold.data.')}.{_path}", _shown)
sys.modules["tenfold.data.datapipes.map.combinatorics"].ShufflerIterDataPipe = map_pipes.Shuffler  # type: ignore[attr-defined]
iter_pipes.routeddecoder.RoutedDecoderIterDataPipe = iter_pipes.RoutedDecoder  # type: ignore[attr-defined]
iter_pipes.sharding.ShardingFilterIterDataPipe = iter_pipes.ShardingFilter  # type: ignore[attr-defined]
# PyTorch's names in modules that are here.
_INSIDE: dict[ModuleType, dict[str, Any]] = {
    worker_info: {
        "_generate_state": worker_info.numpy_seed,
        "_IterableDatasetStopIteration": foreign_workers.StreamEnd,
        "_ResumeIteration": foreign_workers.Resume,
        "ManagerWatchdog": foreign_workers.ManagerWatchdog,
    },
    datapipe: {
        "_IterDataPipeSerializationWrapper": foreign_workers.WrappedStream,
        "_MapDataPipeSerializationWrapper": foreign_workers.WrappedMap,
    },
    tenfold.data: {"_DatasetKind": fetchers.KindWithFetchers},
}
for _home, _inside in _INSIDE.items():
    vars(_home).update(_inside)
_place("_utils.worker", worker_info)  # the module itself: programs set its _worker_info
for _module in (tenfold.data.dataset, sampler):
    _module._T_co = tenfold.data.dataset.T_co  # type: ignore[attr-defined] # PyTorch's name, in annotations
tenfold.data.dataset.random_split = split.random_split  # type: ignore[attr-defined] # where PyTorch has it
