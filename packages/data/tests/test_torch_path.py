"""`tenfold.utils.data`: the modules of `tenfold.data` under PyTorch's path."""

import importlib.util
import multiprocessing

import pytest

import tenfold.data.sampler
import tenfold.utils.data.sampler


def test_modules_are_the_same_objects() -> None:
    import tenfold.utils.data.dataset as dataset

    assert tenfold.utils.data is tenfold.data
    assert tenfold.utils.data.sampler is tenfold.data.sampler
    assert dataset is tenfold.data.dataset
    assert tenfold.data.sampler.__spec__.name == "tenfold.data.sampler"


def test_pytorchs_modules_of_other_names():
    from tenfold.utils.data import _utils, dataloader
    from tenfold.utils.data._utils.collate import default_collate
    from tenfold.utils.data.dataset import random_split

    assert dataloader.DataLoader is tenfold.data.DataLoader
    assert default_collate is _utils.collate.default_collate is tenfold.data.default_collate
    assert random_split is tenfold.data.random_split
    loader = tenfold.data.DataLoader([1, 2])
    assert isinstance(iter(loader), dataloader._SingleProcessDataLoaderIter)


def test_a_program_may_pass_for_a_worker(monkeypatch):
    from tenfold.data.pipes import FromIterable
    from tenfold.utils.data._utils import worker

    info = worker.WorkerInfo(id=1, num_workers=3, seed=0, dataset=None)
    monkeypatch.setattr(worker, "_worker_info", info)
    assert tenfold.data.get_worker_info() is info
    assert list(FromIterable(range(7)).shard()) == [1, 4]


def test_a_module_that_is_missing_is_not_found():
    assert importlib.util.find_spec("tenfold.utils.data.surely_missing") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tenfold.utils.data.surely_missing")


class _Batches:
    """A loader as libraries make them: no DataLoader, with the attributes that PyTorch's private iterators read."""

    dataset_kind = 1
    _auto_collation, _index_sampler, drop_last = False, None, False
    generator, prefetch_factor, persistent_workers, timeout, pin_memory = None, None, False, 0, False
    worker_init_fn, multiprocessing_context = None, multiprocessing

    def __init__(self, workers):
        from tenfold.utils.data.dataloader import _DatasetKind

        self._dataset_kind, self.num_workers, self.dataset = _DatasetKind.Iterable, workers, self

    def collate_fn(self, batch):
        return batch

    def __iter__(self):
        return iter([tenfold.ones(2), tenfold.zeros(3)])


@pytest.mark.parametrize("workers", [0, 1])
def test_pytorchs_private_iterators_pass_over_loaders_of_other_libraries(workers):
    from tenfold.utils.data import dataloader

    kinds = (dataloader._MultiProcessingDataLoaderIter, dataloader._SingleProcessDataLoaderIter)
    found = kinds[workers == 0](_Batches(workers))
    assert isinstance(found, kinds[workers == 0])
    assert not isinstance(found, kinds[workers != 0])
    assert [batch.tolist() for batch in found] == [[1, 1], [0, 0, 0]]


def test_a_loader_that_says_itself_how_it_collates():
    class Whole(tenfold.data.DataLoader):
        """Asks the dataset for the indices of a batch at once."""

        _auto_collation = False

        @property
        def _index_sampler(self):
            return self.batch_sampler

    class Squares(tenfold.data.Dataset):
        def __getitem__(self, index):
            return [i * i for i in index]

        def __len__(self):
            return 5

    assert list(Whole(Squares(), batch_size=2, collate_fn=lambda batch: batch)) == [[0, 1], [4, 9], [16]]
