"""Names: what `dir` and `import *` show, what pickles, under which name things are printed."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold.types import set_namespace


@pytest.mark.parametrize("name", ["bool", "float32", "bfloat16", "complex128"])
def test_dtypes_are_pickled_and_copied_as_themselves(name: str) -> None:
    dtype = getattr(tenfold, name)
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy([dtype])[0] is dtype


def test_dir_has_what_comes_when_first_asked_for() -> None:
    names = dir(tenfold)
    assert {"manual_seed", "broadcast_shapes", "finfo", "std"} <= {*names}
    assert not {"Any", "importlib", "optim_plugin"} & {*names}


def test_dir_has_what_a_package_brings() -> None:
    pytest.importorskip("tenfold.autograd")
    assert {"vmap", "autocast"} <= {*dir(tenfold)}


def test_import_star_brings_what_packages_bring() -> None:
    pytest.importorskip("tenfold.scientific")
    if hasattr(tenfold, "normalize"):  # which lets it be found among the module's variables from now on
        assert callable(tenfold.normalize)
    brought: dict[str, object] = {}
    exec("from tenfold import *", brought)
    assert brought["poisson"] is tenfold.poisson
    assert "normalize" not in brought


def test_import_star() -> None:
    brought: dict[str, object] = {}
    exec("from tenfold import *", brought)
    assert brought["finfo"] is tenfold.finfo
    assert brought["cat"] is tenfold.cat
    assert "Any" not in brought


def test_printed_names_follow_one_setting() -> None:
    x = tenfold.zeros(1, dtype=tenfold.int8)
    set_namespace("torch")
    try:
        shown = [repr(v) for v in (x, x.dtype, x.shape, x.layout, tenfold.channels_last, x.max(0))]
    finally:
        set_namespace("tenfold")
    assert shown[:5] == ["tensor([0], dtype=torch.int8)", "torch.int8", "torch.Size([1])", "torch.strided", "torch.channels_last"]
    assert shown[5].startswith("torch.return_types.max(\nvalues=tensor(0, dtype=torch.int8)")
