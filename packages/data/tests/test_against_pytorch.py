"""Same indices, splits, batches and seeds as PyTorch, under the same seeds."""

from __future__ import annotations

import data_cases as cases
import numpy as np
import pytest

import tenfold
import tenfold.data as ours
from tenfold.data import iterators, worker_info

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.utils.data")

SAMPLERS = {
    "random": lambda lib, generator: lib.RandomSampler(range(37), generator=generator),
    "random, fewer": lambda lib, generator: lib.RandomSampler(range(37), num_samples=5, generator=generator),
    "random, more": lambda lib, generator: lib.RandomSampler(range(37), num_samples=100, generator=generator),
    "random, twice": lambda lib, generator: lib.RandomSampler(range(37), num_samples=74, generator=generator),
    "replacement": lambda lib, generator: lib.RandomSampler(range(37), True, 70, generator=generator),
    "subset": lambda lib, generator: lib.SubsetRandomSampler([5, 9, 2, 7], generator=generator),
    "weighted": lambda lib, generator: lib.WeightedRandomSampler([0.1, 3.0, 0.0, 2.0], 20, generator=generator),
    "weighted, once": lambda lib, generator: lib.WeightedRandomSampler([0.1, 3.0, 0.5, 2.0], 4, False, generator=generator),
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("own_generator", [False, True])
def test_samplers_over_two_epochs(name, own_generator):
    orders = []
    for lib, core in ((ours, tenfold), (theirs, torch)):
        core.manual_seed(17)
        generator = core.Generator().manual_seed(3) if own_generator else None
        sampler = SAMPLERS[name](lib, generator)
        orders.append([list(sampler), list(sampler), len(sampler)])
    assert orders[0] == orders[1]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("size", "replicas"), [(10, 3), (2, 5), (12, 4)])
def test_distributed(size, replicas, shuffle, drop_last):
    for rank in range(replicas):
        pair = [lib.DistributedSampler(range(size), replicas, rank, shuffle, 4, drop_last) for lib in (ours, theirs)]
        for sampler in pair:
            sampler.set_epoch(2)
        assert (list(pair[0]), len(pair[0])) == (list(pair[1]), len(pair[1]))


@pytest.mark.parametrize("lengths", [[10, 27], [0.5, 0.3, 0.2], [0.33, 0.33, 0.34], [1.0], [36, 1, 0]])
@pytest.mark.parametrize("own_generator", [False, True])
def test_random_split(lengths, own_generator):
    parts = []
    for lib, core in ((ours, tenfold), (theirs, torch)):
        core.manual_seed(5)
        options = {"generator": core.Generator().manual_seed(1)} if own_generator else {}
        parts.append([list(part.indices) for part in lib.random_split(range(37), lengths, **options)])
    assert parts[0] == parts[1]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("own_generator", [False, True])
def test_loader_order_over_two_epochs_and_what_it_leaves_of_the_seed(workers, own_generator):
    seen = []
    for lib, core in ((ours, tenfold), (theirs, torch)):
        core.manual_seed(29)
        options = {"generator": core.Generator().manual_seed(1)} if own_generator else {}
        loader = lib.DataLoader(
            range(11), 3, shuffle=True, num_workers=workers, multiprocessing_context="fork" if workers else None, **options
        )
        epochs = [[batch.tolist() for batch in loader] for _ in range(2)]
        seen.append((epochs, core.rand(2).tolist()))
    assert seen[0] == seen[1]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("persistent", [False, True])
def test_worker_seeds(persistent):
    class TheirSeeds(cases.WorkerSeeds):
        def __getitem__(self, index):
            import random

            info = theirs.get_worker_info()
            return info.id, info.seed, torch.initial_seed(), random.getrandbits(32), int(np.random.randint(2**31))

    seen = []
    for lib, core, dataset in ((ours, tenfold, cases.WorkerSeeds()), (theirs, torch, TheirSeeds())):
        core.manual_seed(13)
        loader = lib.DataLoader(dataset, None, num_workers=2, persistent_workers=persistent, multiprocessing_context="fork")
        seen.append([list(loader), list(loader), core.rand(1).item()])
    assert seen[0] == seen[1]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("length", [0, 1, 7, 12])
def test_streams_through_workers(length, drop_last):
    class Theirs(theirs.IterableDataset):
        def __iter__(self):
            info = theirs.get_worker_info()
            return iter(range(info.id, length, info.num_workers))

    seen = []
    for lib, dataset in ((ours, cases.Stream(length)), (theirs, Theirs())):
        loader = lib.DataLoader(dataset, 2, num_workers=2, drop_last=drop_last, multiprocessing_context="fork")
        seen.append([batch.tolist() for batch in loader])
    assert seen[0] == seen[1]


BATCHES = [
    [1, 2],
    [1.0, 2],
    [True, False],
    ["a", "b"],
    [np.float32(1), np.float32(2)],
    [np.float64(1), np.float64(2)],
    [np.array([1, 2], np.uint8)] * 2,
    [np.array(2.5)],
    [{"a": 1, "b": ["x", (1.5,)]}, {"a": 2, "b": ["y", (2.5,)]}],
    [(1, [2, "t"]), (3, [4, "u"])],
    [range(3), range(3)],
    [[]],
]


def plain(value, tensor):
    """Tensors as (values, dtype name), containers as they are."""
    if isinstance(value, tensor):
        return value.tolist(), str(value.dtype).rpartition(".")[2]
    if isinstance(value, dict):
        return {key: plain(part, tensor) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(part, tensor) for part in value)
    return value


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_collate_and_convert(batch):
    from torch.utils.data import default_convert

    assert plain(ours.default_collate(batch), tenfold.Tensor) == plain(theirs.default_collate(batch), torch.Tensor)
    assert plain(ours.default_convert(batch), tenfold.Tensor) == plain(default_convert(batch), torch.Tensor)


@pytest.mark.parametrize("batch", [[object], [None], [[1], [1, 2]], [{"a": 1}, {"b": 2}], [np.array("a")], [], [1, "a"]], ids=str)
def test_collate_raises_the_same_type(batch):
    with pytest.raises(Exception) as theirs_raised:
        theirs.default_collate(batch)
    with pytest.raises(theirs_raised.type):
        ours.default_collate(batch)


@pytest.mark.parametrize("make", ["nested", "jagged", "coo", "csr"])
@pytest.mark.filterwarnings("ignore:.*(beta state|prototype stage):UserWarning")
def test_batches_of_nested_and_sparse_tensors_are_refused(make):
    for lib, core in ((ours, tenfold), (theirs, torch)):
        sample = {
            "nested": lambda core=core: core.nested.nested_tensor([core.ones(2)]),
            "jagged": lambda core=core: core.nested.nested_tensor([core.ones(2)], layout=core.jagged),
            "coo": lambda core=core: core.eye(2).to_sparse(),
            "csr": lambda core=core: core.eye(2).to_sparse_csr(),
        }[make]()
        with pytest.raises(RuntimeError, match="tensors are not currently supported by the default collate_fn"):
            lib.default_collate([sample, sample])


def test_what_a_worker_knows_of_itself_stays():
    for lib, module in ((ours, worker_info), (theirs, theirs._utils.worker)):
        info = module.WorkerInfo(id=1, num_workers=2, seed=3, dataset=None)
        for name in ("id", "other"):
            with pytest.raises(AttributeError if name == "id" else (AttributeError, TypeError)):
                setattr(info, name, 5)
        assert (info.id, info.rng, info.worker_method) == (1, None, "multiprocessing"), lib


@pytest.mark.parametrize(("context", "error"), [("bad", ValueError), (object(), TypeError)])
def test_contexts_that_are_none(context, error):
    said = (
        "should specify a valid start method in"
        if error is ValueError
        else "multiprocessing_context option should be a valid context"
    )
    for lib in (ours, theirs):
        with pytest.raises(error, match=said):
            lib.DataLoader([1], num_workers=1, multiprocessing_context=context)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["slices", "lists", "none", "masks", "tensors", "numbers of NumPy", "bools"])
def test_samplers_of_other_indices_than_ints(name):
    found = []
    for lib, core in ((ours, tenfold), (theirs, torch)):
        indices = {
            "slices": [slice(0, 2), slice(1, 3)],
            "lists": [[0, 1], [2, 0]],
            "none": [None],
            "masks": [core.tensor([True, False, True])],
            "tensors": core.tensor([2, 0, 1]),
            "numbers of NumPy": np.array([2, 0, 1]),
            "bools": [True],
        }[name]
        rows = lib.TensorDataset(core.arange(6).reshape(3, 2), core.tensor([1.0, 2.0, 3.0]))
        found.append([[part.tolist() for part in batch] for batch in lib.DataLoader(rows, 2, sampler=indices)])
    assert found[0] == found[1]


@pytest.mark.parametrize("skipped", [0, 2])
def test_a_loader_goes_on_from_a_place_by_pytorchs_private_names(skipped):
    seen = []
    for lib, core in ((ours, tenfold), (theirs, torch)):
        core.manual_seed(2)
        passing = iter(lib.DataLoader(lib.TensorDataset(core.arange(10)), batch_size=3, shuffle=True))
        for _ in range(skipped):
            next(passing._sampler_iter)
        passing._num_yielded = skipped
        batches = [(batch[0].tolist(), passing._num_yielded) for batch in passing]
        seen.append((batches, type(passing._index_sampler).__name__))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) == 4 - skipped


def test_a_program_may_put_its_own_beginning_before_every_pass(monkeypatch):
    """As SpeechBrain lets its loaders go on from a checkpoint."""
    for lib in (ours, theirs):
        kind = theirs.dataloader._BaseDataLoaderIter if lib is theirs else iterators.LoaderIterator
        plain = kind.__init__

        def begin(self, loader, *args, plain=plain, **options):
            plain(self, loader, *args, **options)
            for _ in range(loader.skipped):
                next(self._sampler_iter)
            self._num_yielded = loader.skipped

        monkeypatch.setattr(kind, "__init__", begin)
        for workers in (0,) if lib is theirs else (0, 1):  # PyTorch draws the order anew before it starts workers
            loader = lib.DataLoader(list(range(6)), batch_size=2, num_workers=workers)
            loader.skipped = 1
            passing = iter(loader)
            assert [batch.tolist() for batch in passing] == [[2, 3], [4, 5]]
            assert passing._num_yielded == 3


def test_a_loader_whose_dataset_is_another_one_outside_of_its_passes():
    """As RecBole's, which read interactions by the numbers of a list and show the interactions."""
    orders = []
    for lib, core in ((ours, tenfold), (theirs, torch)):

        class Loader(lib.DataLoader):
            running = False

            def __iter__(self):
                self.running = True
                passing = super().__iter__()
                self.running = False
                return passing

            def __getattribute__(self, name):
                running = super().__getattribute__("running")
                return "shown" * 5 if name == "dataset" and not running else super().__getattribute__(name)

        generator = core.Generator().manual_seed(4)
        loader = Loader(list(range(6)), batch_size=4, shuffle=True, collate_fn=list, generator=generator)
        orders.append([*loader, len(loader)])
    assert orders[0] == orders[1]


def test_the_type_variable_of_datasets_has_pytorchs_name():
    for lib in (tenfold, torch):
        data = lib.utils.data
        assert data.dataloader._T_co.__name__ in ("_T_co", "T_co")
        assert data.dataset._T_co is not None and data.sampler._T_co is not None  # noqa: PT018
