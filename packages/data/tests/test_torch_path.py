"""`tenfold.utils.data`: the modules of `tenfold.data` under PyTorch's path."""

import importlib.util

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


def test_a_module_that_is_missing_is_not_found():
    assert importlib.util.find_spec("tenfold.utils.data.surely_missing") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tenfold.utils.data.surely_missing")
