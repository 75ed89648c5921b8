"""Published data sets on the same files: every sample is torchvision's."""

from __future__ import annotations

import warnings

import dataset_files as files
import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))

from tenfold.vision import datasets  # noqa: E402


@pytest.fixture(autouse=True)
def any_checksum(monkeypatch):
    """These files are smaller than those whose checksums torchvision knows."""
    import sys

    for name, module in list(sys.modules.items()):
        if name.startswith("torchvision.datasets.") and hasattr(module, "check_integrity"):
            monkeypatch.setattr(module, "check_integrity", lambda path, md5=None: __import__("os").path.isfile(path))
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
