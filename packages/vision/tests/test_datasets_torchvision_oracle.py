"""Published data sets on the same files: every sample is torchvision's."""

from __future__ import annotations

import warnings

import dataset_files as files
import numpy as np
import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))

import tenfold  # noqa: E402
from tenfold.vision import datasets  # noqa: E402
from tenfold.vision.io import decode_png  # noqa: E402


@pytest.fixture(autouse=True)
def any_checksum(monkeypatch):
    """These files are smaller than those whose checksums torchvision knows."""
    import sys

    for name, module in list(sys.modules.items()):
        if name.startswith("torchvision.datasets.") and hasattr(module, "check_integrity"):
            monkeypatch.setattr(module, "check_integrity", lambda path, md5=None: __import__("os").path.isfile(path))
    # its own decoder is one of the compiled operators that do not load
    read = lambda data: torch.from_numpy(decode_png(tenfold.from_numpy(data.numpy())).numpy().astype("int32"))  # noqa: E731
    monkeypatch.setattr(torchvision.datasets._optical_flow, "decode_png", read)
    monkeypatch.setattr(
        torchvision.datasets._optical_flow, "read_file", lambda path: torch.from_numpy(np.fromfile(path, np.uint8))
    )
    places = torchvision.datasets.Places365
    monkeypatch.setattr(places, "_check_integrity", lambda self, file, md5, download: True)


@pytest.mark.parametrize("case", files.LAYOUTS, ids=files.named)
def test_samples(tmp_path, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of files that torchvision leaves open
        theirs = files.made(torchvision.datasets, case, tmp_path / "a")
        expected = sorted((files.plain(theirs[i]) for i in range(len(theirs))), key=repr)  # it lists some folders unsorted
    ours = files.made(datasets, case, tmp_path / "b")
    assert sorted((files.plain(ours[i]) for i in range(len(ours))), key=repr) == expected
    for name in ("classes", "class_to_idx", "wnids", "categories", "attr_names", "captions", "photos", "y", "all_categories"):
        if hasattr(theirs, name):
            assert files.plain(getattr(ours, name)) == files.plain(getattr(theirs, name)), name


WRAPPED = ["SBDataset-segmentation", "Caltech101", "WIDERFace-val", "WIDERFace-test"]
CASES = {files.named(case): case for case in files.LAYOUTS}
CASES["boxes"] = ("CelebA", {"target_type": ["identity", "bbox"]}, files.CELEBA)
CASES["semantic"] = ("Cityscapes", {"target_type": "semantic"}, files.CITY)


@pytest.mark.parametrize("name", [*WRAPPED, "boxes", "semantic"])
def test_wrapped_samples(tmp_path, name):
    theirs = torchvision.datasets.wrap_dataset_for_transforms_v2(files.made(torchvision.datasets, CASES[name], tmp_path / "a"))
    ours = datasets.wrap_dataset_for_transforms_v2(files.made(datasets, CASES[name], tmp_path / "b"))
    for i in range(len(theirs)):
        assert kinds(ours[i]) == kinds(theirs[i])


def kinds(value):
    """Tensors with their class; else as `files.plain`."""
    if isinstance(value, (tuple, list)):
        return [kinds(each) for each in value]
    if isinstance(value, dict):
        return {key: kinds(each) for key, each in sorted(value.items())}
    return (type(value).__name__, value.tolist()) if hasattr(value, "tolist") else files.plain(value)
