"""Published data sets on small files in their true layouts, unpacked by hand and fetched from a server on this machine."""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from tenfold.vision import datasets
from tenfold.vision.datasets.published import Archive, PublishedDataset

RNG = np.random.default_rng(0)


def picture(colour, kind="PNG", mode="RGB"):
    file = io.BytesIO()
    Image.new(mode, (3, 2), colour).save(file, kind)
    return file.getvalue()


def red(level, kind="PNG"):
    return picture((level, 0, 0), kind)


def mat(**values):
    file = io.BytesIO()
    savemat(file, values)
    return file.getvalue()


def npy(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


SVHN_X = RNG.integers(0, 256, (32, 32, 3, 2)).astype(np.uint8)
STL_X = RNG.integers(0, 256, (3, 3, 96, 96)).astype(np.uint8)
FILMS = RNG.integers(0, 256, (20, 2, 64, 64)).astype(np.uint8)
USPS_ROW = "6 " + " ".join(f"{i}:{(i % 3) - 1}" for i in range(1, 257)) + " \n"
VOC = "VOCdevkit/VOC2012"
XML = "<annotation><folder>VOC</folder><size><width>3</width><height>2</height></size>{}</annotation>"
THING = "<object><name>dog</name><bndbox><xmin>1</xmin></bndbox></object>"
DOG = {"name": "dog", "bndbox": {"xmin": "1"}}
SIZE = {"folder": "VOC", "size": {"width": "3", "height": "2"}}
ROW = "Car 0.00 1 1.85 387.63 181.54 423.81 203.12 1.67 1.87 3.69 -16.53 2.39 58.49 1.57\n"
CAR = {
    "type": "Car", "truncated": 0.0, "occluded": 1, "alpha": 1.85, "bbox": [387.63, 181.54, 423.81, 203.12],
    "dimensions": [1.67, 1.87, 3.69], "location": [-16.53, 2.39, 58.49], "rotation_y": 1.57,
}  # fmt: skip
SCENES = {"scenes": [{"image_filename": "a.png", "objects": [1, 2, 3]}, {"image_filename": "b.png", "objects": []}]}

# name, options, files below root, and of each sample the red of its first pixel and its target
CASES = [
    ("Food101", {}, {"food-101/meta/train.json": json.dumps({"pie": ["pie/7"], "cake": ["cake/9"]}),
     "food-101/images/pie/7.jpg": red(70), "food-101/images/cake/9.jpg": red(90)}, [(70, 1), (90, 0)]),
    ("DTD", {"split": "val", "partition": 2}, {"dtd/dtd/labels/val2.txt": "dotted/a.jpg\nbanded/b.jpg\n",
     "dtd/dtd/images/dotted/a.jpg": red(1), "dtd/dtd/images/banded/b.jpg": red(2)}, [(1, 1), (2, 0)]),
    ("FGVCAircraft", {"annotation_level": "family"}, {"fgvc-aircraft-2013b/data/families.txt": "A300\nBoeing 747\n",
     "fgvc-aircraft-2013b/data/images_family_trainval.txt": "0034309 Boeing 747\n",
     "fgvc-aircraft-2013b/data/images/0034309.jpg": red(5)}, [(5, 1)]),
    ("Country211", {"split": "valid"},
     {"country211/valid/AT/a.jpg": red(3), "country211/valid/BE/b.jpg": red(4)}, [(3, 0), (4, 1)]),
    ("RenderedSST2", {"split": "val"},
     {"rendered-sst2/valid/positive/1.png": red(8), "rendered-sst2/valid/negative/2.png": red(9)},
     [(9, 0), (8, 1)]),
    ("EuroSAT", {}, {"eurosat/2750/Forest/1.jpg": red(11), "eurosat/2750/River/2.jpg": red(12)}, [(11, 0), (12, 1)]),
    ("CLEVRClassification", {}, {"clevr/CLEVR_v1.0/images/train/a.png": red(1), "clevr/CLEVR_v1.0/images/train/b.png": red(2),
     "clevr/CLEVR_v1.0/scenes/CLEVR_train_scenes.json": json.dumps(SCENES)}, [(1, 3), (2, 0)]),
    ("CLEVRClassification", {"split": "test"}, {"clevr/CLEVR_v1.0/images/test/a.png": red(1)}, [(1, None)]),
    ("SUN397", {}, {"SUN397/ClassName.txt": "/a/abbey\n/b/bar/indoor\n", "SUN397/a/abbey/sun_a.jpg": red(1),
     "SUN397/b/bar/indoor/sun_b.jpg": red(2)}, [(1, 0), (2, 1)]),
    ("Flowers102", {"split": "test"}, {"flowers-102/jpg/image_00001.jpg": red(1), "flowers-102/jpg/image_00002.jpg": red(2),
     "flowers-102/imagelabels.mat": mat(labels=[[77, 5]]),
     "flowers-102/setid.mat": mat(trnid=[[1]], valid=[[1]], tstid=[[2, 1]])},
     [(2, 4), (1, 76)]),
    ("Caltech256", {}, {"caltech256/256_ObjectCategories/001.ak47/001_0001.jpg": red(1),
     "caltech256/256_ObjectCategories/002.flag/002_0001.jpg": red(2)}, [(1, 0), (2, 1)]),
    ("Omniglot", {"background": False},
     {"omniglot-py/images_evaluation/Atlantean/character01/0965_01.png": picture(255, mode="L"),
     "omniglot-py/images_evaluation/Tengwar/character02/1_01.png": picture(0, mode="L")}, [(255, 0), (0, 1)]),
    ("OxfordIIITPet", {"target_types": ["category", "binary-category"]}, {"oxford-iiit-pet/images/Abyssinian_1.jpg": red(1),
     "oxford-iiit-pet/images/great_dane_2.jpg": red(2),
     "oxford-iiit-pet/annotations/trainval.txt": "Abyssinian_1 1 1 1\ngreat_dane_2 2 2 1\n"}, [(1, (0, 0)), (2, (1, 1))]),
    ("GTSRB", {}, {"gtsrb/GTSRB/Training/00000/a.ppm": red(1, "PPM"), "gtsrb/GTSRB/Training/00001/b.ppm": red(2, "PPM"),
     "gtsrb/GTSRB/Training/00001/GT-00001.csv": "x"}, [(1, 0), (2, 1)]),
    ("GTSRB", {"split": "test"}, {"gtsrb/GTSRB/Final_Test/Images/00000.ppm": red(3, "PPM"),
     "gtsrb/GT-final_test.csv": "Filename;Width;ClassId\n00000.ppm;3;16\n"}, [(3, 16)]),
    ("Imagenette", {"split": "val", "size": "160px"}, {"imagenette2-160/val/n01440764/a.JPEG": red(1),
     "imagenette2-160/val/n03888257/b.JPEG": red(2)}, [(1, 0), (2, 1)]),
    ("SVHN", {"split": "test"}, {"test_32x32.mat": mat(X=SVHN_X, y=np.array([[10], [3]], np.uint8))},
     [(int(SVHN_X[0, 0, 0, 0]), 0), (int(SVHN_X[0, 0, 0, 1]), 3)]),
    ("STL10", {"folds": 1}, {"stl10_binary/train_X.bin": STL_X.tobytes(), "stl10_binary/train_y.bin": bytes([1, 10, 4]),
     "stl10_binary/fold_indices.txt": "0 1\n2 0\n", "stl10_binary/class_names.txt": "a\nb\n"},
     [(int(STL_X[2, 0, 0, 0]), 3), (int(STL_X[0, 0, 0, 0]), 0)]),
    ("STL10", {"split": "unlabeled"}, {"stl10_binary/unlabeled_X.bin": STL_X[:1].tobytes()}, [(int(STL_X[0, 0, 0, 0]), -1)]),
    ("USPS", {"train": False}, {"usps.t.bz2": bz2.compress(USPS_ROW.encode())}, [(127, 5)]),
    ("SEMEION", {"download": False}, {"semeion.data": "1.0000 " + "0.0000 " * 255 + "0 0 1 0 0 0 0 0 0 0 \n"}, [(255, 2)]),
    ("FER2013", {}, {"fer2013/train.csv": "emotion,pixels\n4," + " ".join(["9"] * 2304) + "\n"}, [(9, 4)]),
    ("FER2013", {"split": "test"}, {"fer2013/test.csv": "pixels\n" + " ".join(["9"] * 2304) + "\n"}, [(9, None)]),
    ("VOCDetection", {}, {f"{VOC}/ImageSets/Main/train.txt": "a\nb\n", f"{VOC}/JPEGImages/a.jpg": red(1),
     f"{VOC}/JPEGImages/b.jpg": red(2), f"{VOC}/Annotations/a.xml": XML.format(THING),
     f"{VOC}/Annotations/b.xml": XML.format(THING * 2)},
     [(1, {"annotation": {**SIZE, "object": [DOG]}}), (2, {"annotation": {**SIZE, "object": [DOG, DOG]}})]),
    ("Kitti", {}, {"Kitti/raw/training/image_2/0.png": red(1), "Kitti/raw/training/label_2/0.txt": ROW}, [(1, [CAR])]),
    ("Kitti", {"train": False}, {"Kitti/raw/testing/image_2/0.png": red(1)}, [(1, None)]),
]  # fmt: skip


def lay(root, files):
    for name, data in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def first(image):
    pixel = image.getpixel((0, 0))
    return pixel[0] if isinstance(pixel, tuple) else pixel


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_samples(tmp_path, case):
    name, options, files, expected = case
    lay(tmp_path, files)
    found = getattr(datasets, name)(tmp_path, **options)
    assert [(first(image), target) for image, target in found] == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_missing_files_are_named(tmp_path, case):
    name, options, _, _ = case
    with pytest.raises(RuntimeError, match=rf"{name}: dataset not found or corrupted; .* lacks "):
        getattr(datasets, name)(tmp_path, **options)


def packed(name, files):
    """An archive of these files, of the kind that its name says."""
    file = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(file, "w") as archive:
            for path, data in files.items():
                archive.writestr(path, data)
    else:
        with tarfile.open(fileobj=file, mode="w:gz" if name.endswith("gz") else "w") as archive:
            for path, data in files.items():
                entry = tarfile.TarInfo(path)
                data = data if isinstance(data, bytes) else data.encode()
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


FETCHED = ["Food101", "DTD", "EuroSAT", "CLEVRClassification", "Caltech256", "Country211", "SUN397", "STL10"]


@pytest.mark.parametrize("name", FETCHED)
def test_download_from_a_server(tmp_path, file_server, monkeypatch, name):
    kind = getattr(datasets, name)
    _, options, files, expected = next(case for case in CASES if case[0] == name)
    (published,) = kind.archives
    inside = {path.removeprefix(f"{kind.place}/"): data for path, data in files.items()}
    data = packed(published.name, inside)
    (file_server.folder / published.name).write_bytes(data)
    right = Archive(file_server.url + published.name, hashlib.md5(data).hexdigest())
    monkeypatch.setattr(kind, "archives", (right,))
    assert [target for _, target in kind(tmp_path / "a", download=True, **options)] == [target for _, target in expected]
    asked = len(file_server.requests)
    kind(tmp_path / "a", download=True, **options)
    assert len(file_server.requests) == asked  # what is there is not fetched again
    monkeypatch.setattr(kind, "archives", (right._replace(md5="0" * 32),))
    with pytest.raises(RuntimeError, match="MD5 checksum"):
        kind(tmp_path / "b", download=True, **options)


TEXTURES = {path.removeprefix("dtd/"): data for path, data in next(case for case in CASES if case[0] == "DTD")[2].items()}


@pytest.fixture
def textures(file_server, monkeypatch):
    """The server, with an archive of textures on it that is the published one."""
    data = packed("dtd.tar.gz", TEXTURES)
    (file_server.folder / "dtd.tar.gz").write_bytes(data)
    archive = Archive(file_server.url + "dtd.tar.gz", hashlib.md5(data).hexdigest())
    monkeypatch.setattr(datasets.DTD, "archives", (archive,))
    return file_server


def test_a_connection_that_drops_is_resumed(tmp_path, textures):
    textures.tag, textures.drops = '"1"', 1
    assert len(datasets.DTD(tmp_path / "a", "val", 2, download=True)) == 2
    assert textures.ranges[0] is None
    assert textures.ranges[1].startswith("bytes=")


def test_a_set_is_fetched_again_by_its_method(tmp_path, textures):
    textured = datasets.DTD(tmp_path / "a", "val", 2, download=True)
    asked = len(textures.requests)
    textured.download()
    assert len(textures.requests) == asked
    shutil.rmtree(tmp_path / "a" / "dtd" / "dtd")
    textured.download()
    assert first(textured[0][0]) == 1


def test_an_offline_folder_stands_in_for_the_server(tmp_path, textures, offline):
    with pytest.raises(FileNotFoundError, match=r"has no file dtd\.tar\.gz; put it there"):
        datasets.DTD(tmp_path / "a", "val", 2, download=True)
    (offline / "dtd.tar.gz").write_bytes((textures.folder / "dtd.tar.gz").read_bytes())
    assert len(datasets.DTD(tmp_path / "a", "val", 2, download=True)) == 2
    assert textures.requests == []


def test_an_archive_cannot_write_outside_its_folder(tmp_path, file_server, monkeypatch):
    data = packed("dtd.tar.gz", TEXTURES | {"../../evil.txt": "x"})
    (file_server.folder / "dtd.tar.gz").write_bytes(data)
    monkeypatch.setattr(datasets.DTD, "archives", (Archive(file_server.url + "dtd.tar.gz", None),))
    with pytest.raises(tarfile.OutsideDestinationError):
        datasets.DTD(tmp_path / "a", "val", 2, download=True)
    assert not list(tmp_path.rglob("evil.txt"))


def test_half_an_unpacked_archive_is_not_the_whole(tmp_path, textures, monkeypatch):
    from tenfold.vision.datasets import published

    whole = published.extract_archive

    def interrupted(source, folder):
        whole(source, folder)
        (folder / "dtd" / "images" / "banded" / "b.jpg").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(published, "extract_archive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.DTD(tmp_path / "a", "val", 2, download=True)
    monkeypatch.setattr(published, "extract_archive", whole)
    with pytest.raises(RuntimeError, match="dataset not found or corrupted"):
        datasets.DTD(tmp_path / "a", "val", 2)
    assert [first(image) for image, _ in datasets.DTD(tmp_path / "a", "val", 2, download=True)] == [1, 2]


def test_a_file_that_is_not_packed_is_fetched(tmp_path, file_server, monkeypatch):
    data = mat(X=SVHN_X, y=np.array([[10], [3]], np.uint8))
    (file_server.folder / "test_32x32.mat").write_bytes(data)
    sums = {"test": [file_server.url + "test_32x32.mat", "test_32x32.mat", hashlib.md5(data).hexdigest()]}
    monkeypatch.setattr(datasets.SVHN, "split_list", sums)
    found = datasets.SVHN(tmp_path / "root", "test", download=True)
    assert (found.data.shape, found.labels.tolist()) == ((2, 3, 32, 32), [0, 3])


def test_films_are_split_by_their_frames(tmp_path):
    lay(tmp_path, {"MovingMNIST/mnist_test_seq.npy": npy(FILMS)})
    for split, frames in ((None, slice(None)), ("train", slice(4)), ("test", slice(4, None))):
        films = datasets.MovingMNIST(tmp_path, split, split_ratio=4)
        assert len(films) == 2
        np.testing.assert_array_equal(films[1].numpy(), FILMS[frames, 1][:, None])
    with pytest.raises(TypeError, match="should be an integer"):
        datasets.MovingMNIST(tmp_path, "train", split_ratio=0.5)


def test_segmentation_targets_are_pictures(tmp_path):
    files = {f"{VOC}/ImageSets/Segmentation/val.txt": "a\n", f"{VOC}/JPEGImages/a.jpg": red(1)}
    lay(tmp_path, files | {f"{VOC}/SegmentationClass/a.png": picture(7, mode="L")})
    found = datasets.VOCSegmentation(tmp_path, image_set="val")
    assert (first(found[0][1]), found.masks[0].endswith("SegmentationClass/a.png")) == (7, True)
    both = datasets.VOCSegmentation(tmp_path, image_set="val", transforms=lambda image, target: (first(image), first(target)))
    assert both[0] == (1, 7)
    with pytest.raises(ValueError, match="Unknown value 'test' for argument image_set"):
        datasets.VOCSegmentation(tmp_path, image_set="test")


def test_pets_have_masks(tmp_path):
    files = {"images/a_1.jpg": red(1), "annotations/test.txt": "a_1 1 2 1\n", "annotations/trimaps/a_1.png": picture(2, mode="L")}
    lay(tmp_path / "oxford-iiit-pet", files)
    found = datasets.OxfordIIITPet(tmp_path, "test", target_types=["segmentation", "binary-category"])
    _, (mask, kind) = found[0]
    assert (first(mask), kind, found.classes) == (2, 1, ["A"])


def test_coco(tmp_path):
    boxes = [{"image_id": 5, "id": 1, "bbox": [0, 0, 1, 1], "caption": "one"}, {"image_id": 5, "id": 2, "caption": "two"}]
    known = {"images": [{"id": 9, "file_name": "b.png"}, {"id": 5, "file_name": "a.png"}], "annotations": boxes}
    lay(tmp_path, {"a.png": red(1), "b.png": red(2), "boxes.json": json.dumps(known)})
    found = datasets.CocoDetection(tmp_path, tmp_path / "boxes.json")
    assert [(first(image), target) for image, target in found] == [(1, boxes), (2, [])]
    captions = datasets.CocoCaptions(tmp_path, tmp_path / "boxes.json", target_transform=len)
    assert [target for _, target in captions] == [2, 0]
    assert datasets.CocoCaptions(tmp_path, tmp_path / "boxes.json")[0][1] == ["one", "two"]
    with pytest.raises(ValueError, match="Index must be of type integer"):
        found["a"]


def test_a_split_that_there_is_not(tmp_path):
    with pytest.raises(ValueError, match=r"Food101: Unknown value 'val' for argument split\. Valid values are train, test"):
        datasets.Food101(tmp_path, "val")
    with pytest.raises(ValueError, match="1 <= partition <= 10"):
        datasets.DTD(tmp_path, partition=11)


def test_every_published_set_has_an_archive_or_says_that_it_has_none(tmp_path):
    for name in datasets.__all__:
        kind = getattr(datasets, name)
        if isinstance(kind, type) and issubclass(kind, PublishedDataset) and kind is not PublishedDataset:
            for archive in kind.archives:
                assert archive.url.startswith(("http://", "https://"))
                assert archive.md5 is None or len(archive.md5) == 32
    with pytest.raises(RuntimeError, match="it has to be fetched from its publisher"):
        datasets.FER2013(tmp_path)
