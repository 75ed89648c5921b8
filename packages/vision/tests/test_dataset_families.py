"""Published data sets of faces, captions, outlines and millions of photographs, on small files in their true layouts."""

from __future__ import annotations

import hashlib
import pickle

import dataset_files as files
import numpy as np
import pytest
from dataset_files import packed, red

import tenfold
from tenfold.data import DataLoader
from tenfold.vision import datasets
from tenfold.vision.datasets import millions
from tenfold.vision.datasets.published import Archive

CASES = {files.named(case): case for case in files.LAYOUTS}
# of each sample the red of its first pixel and its target
EXPECTED = {
    "CelebA": [(1, ((2,), [0, 1])), (3, ((2,), [1, 1]))],
    "CelebA-valid-['identity', 'bbox', 'landmarks']": [
        (2, [((), 8), ((4,), [5, 6, 7, 8]), ((2,), [1, 2])]), (4, [((), 8), ((4,), [1, 1, 1, 1]), ((2,), [5, 6])]),
    ],
    "CelebA-all-[]": [(1, None), (2, None), (3, None), (4, None)],
    "LFWPeople-original-train": [(1, 0), (2, 0), (3, 1)],
    "LFWPeople-original": [(3, 1), (1, 0), (2, 0)],
    "WIDERFace-test": [(3, None)],
    "SBU-False": [(1, "one"), (2, "two")],
    "Flickr30k-a.token": [(1, ["Cat ."]), (2, ["One dog .", "A dog ."])],
    "Flickr8k-page.html": [(1, ["A dog .", "It runs ."]), (2, ["Cat"])],
    "Caltech101": [(1, 0), (2, 1), (3, 1)],
    "Caltech101-['annotation', 'category']": [
        (1, [((2, 2), [[1.0, 2.0], [3.0, 4.0]]), 0]), (2, [((2, 1), [[5.0], [6.0]]), 1]), (3, [((2, 1), [[7.0], [8.0]]), 1]),
    ],
    "SBDataset-segmentation": [(1, ("L", [[0, 1, 2], [3, 4, 5]]))],
    "Cityscapes-['semantic', 'polygon', 'color']": [
        (1, [("L", [[7] * 3] * 2), {"objects": [{"label": "road"}]}, ("RGB", [[[1, 2, 3]] * 3] * 2)]),
    ],
    "Cityscapes": [(1, ("I;16", [[26001] * 3] * 2))],
    "Places365-val-True": [(1, 1)],
    "Places365-test": [(2, None)],
    "Places365-True": [(3, 0), (4, 1)],
    "INaturalist-2021_valid-['full', 'class', 'genus']": [(1, [0, 0, 0]), (2, [1, 1, 1])],
    "INaturalist-2018-['full', 'super']": [(2, [0, 0]), (1, [1, 0]), (3, [2, 1])],
    "StanfordCars": [(1, 1), (2, 0)],
}  # fmt: skip


def first(image):
    return image.getpixel((0, 0))[0]


@pytest.mark.parametrize("name", EXPECTED)
def test_samples(tmp_path, name):
    found = files.made(datasets, CASES[name], tmp_path)
    assert [(first(image), files.plain(target)) for image, target in found] == EXPECTED[name]
    assert len(found) == len(EXPECTED[name])
    assert repr(found).startswith(f"Dataset {CASES[name][0]}\n    Number of datapoints: {len(found)}\n")


@pytest.mark.parametrize("name", [name for name in EXPECTED if not name.startswith("Flickr")])
def test_missing_files_are_named(tmp_path, name):
    kind, options, _ = CASES[name]
    with pytest.raises(RuntimeError, match=rf"{kind}: dataset not found or .*{tmp_path}.* (lacks|has neither) "):
        files.made(datasets, (kind, options, {}), tmp_path)


def test_pairs_of_faces(tmp_path):
    found = files.made(datasets, CASES["LFWPairs-original-test"], tmp_path)
    assert [(first(a), first(b), same) for a, b, same in found] == [(1, 2, 1), (2, 3, 0)]


def test_faces_in_a_crowd(tmp_path):
    found = files.made(datasets, CASES["WIDERFace-val"], tmp_path)
    assert found[0][1]["bbox"].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert (found[0][1]["pose"].tolist(), found[0][1]["invalid"].tolist()) == ([2, 0], [0, 1])
    assert found[1][1]["bbox"].tolist() == [[0, 0, 0, 0]]


def test_edges(tmp_path):
    _, edges = files.made(datasets, CASES["SBDataset"], tmp_path)[0]
    assert edges.shape == (20, 2, 3)
    assert edges[1].tolist() == np.eye(2, 3, k=1).tolist()


def test_patches(tmp_path):
    single = files.made(datasets, CASES["PhotoTour-liberty"], tmp_path / "a")
    assert single[4].tolist() == files.SHEET[64:, 64:128].tolist()  # the fifth in rows of three
    pairs = files.made(datasets, CASES["PhotoTour-liberty-False"], tmp_path / "b")
    assert [int(same) for _, _, same in pairs] == [1, 0]
    assert pairs[1][0].tolist() == files.SHEET[:64, 64:128].tolist()
    assert (pairs.labels.tolist(), len(single)) == ([7, 7, 8, 9, 9], 6)


def test_qmnist(tmp_path):
    digits = files.made(datasets, CASES["QMNIST"], tmp_path)
    assert [target for _, target in digits] == [7, 1, 4]
    assert np.asarray(digits[2][0]).tolist() == files.DIGITS[2].tolist()
    everything = files.made(datasets, CASES["QMNIST-train-False"], tmp_path)
    assert everything[0][1].tolist() == files.LABELS[0].tolist()
    files.lay(tmp_path, files.QMNIST_PACKED)
    assert len(datasets.QMNIST(tmp_path, "nist")) == len(datasets.QMNIST(tmp_path, train=False)) == 3
    assert (len(datasets.QMNIST(tmp_path, "test10k")), len(datasets.QMNIST(tmp_path, "test50k"))) == (3, 0)
    with pytest.raises(ValueError, match="unknown what 'half'; valid are train, test"):
        datasets.QMNIST(tmp_path, "half")


SYNSETS = files.records(
    ILSVRC2012_ID=[1, 2, 3], WNID=["n02", "n01", "n00"], words=["tench, Tinca", "crane", "animal"], gloss=["", "", ""],
    num_children=[0, 0, 2],
)  # fmt: skip
DEVKIT = {
    "ILSVRC2012_devkit_t12/data/meta.mat": files.mat(synsets=SYNSETS),
    "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": "2\n1\n2\n",
}
INNER = {f"{wnid}.tar": packed("x.tar", {f"{wnid}_{level}.JPEG": red(level)}) for wnid, level in (("n02", 5), ("n01", 6))}
IMAGENET = {
    "devkit": packed("devkit.tar.gz", DEVKIT),
    "train": packed("train.tar", INNER),
    "val": packed("val.tar", {f"ILSVRC2012_val_0000000{i}.JPEG": red(i) for i in (1, 2, 3)}),
}


def lay_imagenet(root, monkeypatch, kinds=("devkit", "train", "val")):
    known = millions.ARCHIVE_META
    for kind in kinds:
        (root / known[kind][0]).write_bytes(IMAGENET[kind])
        monkeypatch.setitem(known, kind, (known[kind][0], hashlib.md5(IMAGENET[kind]).hexdigest()))


def test_imagenet_is_unpacked_once(tmp_path, monkeypatch):
    lay_imagenet(tmp_path, monkeypatch)
    validation = datasets.ImageNet(tmp_path, "val")
    assert [(first(image), target) for image, target in validation] == [(1, 0), (3, 0), (2, 1)]
    assert (validation.wnids, validation.classes) == (["n01", "n02"], [("crane",), ("tench", "Tinca")])
    assert validation.class_to_idx == {"crane": 0, "tench": 1, "Tinca": 1}
    training = datasets.ImageNet(tmp_path, transform=first)
    assert list(training) == [(6, 0), (5, 1)]
    for archive, _ in millions.ARCHIVE_META.values():
        (tmp_path / archive).unlink()
    assert list(datasets.ImageNet(tmp_path, transform=first)) == list(training)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["meta.bin", "train", "val"]


def test_imagenet_says_which_archive_it_lacks(tmp_path, monkeypatch):
    with pytest.raises(
        RuntimeError, match=r"the archive ILSVRC2012_devkit_t12\.tar\.gz is not in .* fetch it from image-net\.org"
    ):
        datasets.ImageNet(tmp_path)
    lay_imagenet(tmp_path, monkeypatch, ["devkit"])
    with pytest.raises(RuntimeError, match=r"the archive ILSVRC2012_img_val\.tar is not in"):
        datasets.ImageNet(tmp_path, "val")
    assert not (tmp_path / "val").exists()  # nothing half done that would pass for the whole


def test_lsun(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    for place, levels in (("tower_val", (1, 2)), ("kitchen_train", (3,))):
        with lmdb.open(str(tmp_path / f"{place}_lmdb"), map_size=1 << 20) as database, database.begin(write=True) as writing:
            for level in levels:
                writing.put(b"%d" % level, red(level))
    found = datasets.LSUN(tmp_path, ["tower_val", "kitchen_train"], transform=first)
    assert list(found) == [(1, 0), (2, 0), (3, 1)]
    assert found[-1] == (3, 1)
    assert pickle.loads(pickle.dumps(found))[1] == (2, 0)
    batches = [[each.tolist() for each in batch] for batch in DataLoader(found, 2, num_workers=2)]
    assert batches == [[[1, 2], [0, 0]], [[3], [1]]]
    with pytest.raises(ValueError, match="Unknown value 'attic_train' for argument classes"):
        datasets.LSUN(tmp_path, ["attic_train"])
    with pytest.raises(IndexError, match="index 3 is out of range for 3"):
        found[3]


def test_pcam(tmp_path):
    h5py = pytest.importorskip("h5py")
    pixels = np.arange(2 * 96 * 96 * 3).astype(np.uint8).reshape(2, 96, 96, 3)
    (tmp_path / "pcam").mkdir()
    for axis, key, values in (("x", "x", pixels), ("y", "y", np.array([1, 0], np.uint8).reshape(2, 1, 1, 1))):
        with h5py.File(tmp_path / "pcam" / f"camelyonpatch_level_2_split_valid_{axis}.h5", "w") as file:
            file[key] = values
    found = datasets.PCAM(tmp_path, "val")
    assert ([target for _, target in found], np.asarray(found[1][0]).tolist()) == ([1, 0], pixels[1].tolist())


def served(file_server, monkeypatch, kind, archives):
    """Let a data set's archives be these files on the server."""
    known = []
    for name, data in archives.items():
        (file_server.folder / name).write_bytes(data)
        known.append(Archive(file_server.url + name, hashlib.md5(data).hexdigest(), packed=not name.endswith(".txt")))
    monkeypatch.setattr(kind, "archives", tuple(known))


def test_outlines_are_in_an_archive_within_the_archive(tmp_path, file_server, monkeypatch):
    parts = {"101_ObjectCategories.tar.gz": "101_ObjectCategories/", "Annotations.tar": "Annotations/"}
    inner = {
        f"caltech-101/{name}": packed(name, {
            path.removeprefix("caltech101/"): data for path, data in files.CALTECH.items() if part in path
        })
        for name, part in parts.items()
    }  # fmt: skip
    served(file_server, monkeypatch, datasets.Caltech101, {"caltech-101.zip": packed("a.zip", inner)})
    found = datasets.Caltech101(tmp_path, ["category", "annotation"], download=True)
    assert files.plain(found[1][1]) == [1, ((2, 1), [[5.0], [6.0]])]


def test_boundaries_are_moved_to_the_root(tmp_path, file_server, monkeypatch):
    data = packed("x.tgz", {f"benchmark_RELEASE/dataset/{name}": each for name, each in files.SBD.items()})
    served(file_server, monkeypatch, datasets.SBDataset, {"benchmark.tgz": data})
    assert len(datasets.SBDataset(tmp_path, download=True)) == len(datasets.SBDataset(tmp_path)) == 1


def test_photographs_that_are_gone_are_left_out(tmp_path, file_server, monkeypatch):
    (file_server.folder / "1.jpg").write_bytes(red(1))
    urls = f"{file_server.url}1.jpg\n{file_server.url}gone.jpg\n"
    inside = {"urls": urls, "captions": "one\ngone\n"}
    data = packed("a.tar.gz", {f"dataset/SBU_captioned_photo_dataset_{kind}.txt": text for kind, text in inside.items()})
    served(file_server, monkeypatch, datasets.SBU, {"SBU.tar.gz": data})
    assert [caption for _, caption in datasets.SBU(tmp_path)] == ["one"]


def test_patches_get_a_folder_of_their_own(tmp_path, file_server, monkeypatch):
    data = packed("a.zip", {name.removeprefix("liberty/"): each for name, each in files.TOUR.items()})
    (file_server.folder / "liberty.zip").write_bytes(data)
    place = (file_server.url + "liberty.zip", "liberty.zip", hashlib.md5(data).hexdigest())
    monkeypatch.setitem(datasets.PhotoTour.urls, "liberty", place)
    assert len(datasets.PhotoTour(tmp_path, "liberty", download=True)) == 6


def test_species_are_renamed_to_their_version(tmp_path, file_server, monkeypatch):
    data = packed("a.tar.gz", {name.replace("2021_valid", "val"): each for name, each in files.INAT.items()})
    (file_server.folder / "2021").mkdir()
    (file_server.folder / "2021" / "val.tar.gz").write_bytes(data)
    monkeypatch.setitem(millions.INATURALIST, "2021_valid", ("val", hashlib.md5(data).hexdigest()))
    monkeypatch.setattr(millions, "INATURALIST_URL", file_server.url)
    found = datasets.INaturalist(tmp_path, "2021_valid", download=True)
    assert [target for _, target in found] == [0, 1]
    assert found.category_name("genus", 1) == "Gavia"
    with pytest.raises(ValueError, match="Invalid category id 9 for genus"):
        found.category_name("genus", 9)


def test_streets_are_unpacked_where_their_archives_are(tmp_path):
    for name, part in (("leftImg8bit_trainvaltest.zip", "leftImg8bit/"), ("gtFine_trainvaltest.zip", "gtFine/")):
        inside = {path: data for path, data in files.CITY.items() if path.startswith(part)}
        (tmp_path / name).write_bytes(packed(name, inside))
    assert len(datasets.Cityscapes(tmp_path, target_type="color")) == 1
    with pytest.raises(ValueError, match=r"Unknown value 'test' for argument split\. Valid values are train, train_extra, val"):
        datasets.Cityscapes(tmp_path, "test", "coarse")
    with pytest.raises(RuntimeError, match=r"lacks|has neither .* nor gtCoarse\.zip"):
        datasets.Cityscapes(tmp_path, "train", "coarse")


def test_folders_of_species_that_are_not_of_the_year(tmp_path):
    (tmp_path / "2018" / "Aves" / "zero").mkdir(parents=True)
    with pytest.raises(RuntimeError, match="a folder of 2018 is a number"):
        datasets.INaturalist(tmp_path, "2018")
    (tmp_path / "2021_valid" / "Aves").mkdir(parents=True)
    with pytest.raises(RuntimeError, match=r"Aves is no folder of 2021's; expected 00000"):
        datasets.INaturalist(tmp_path, "2021_valid")


def test_a_batch_of_attributes(tmp_path):
    celeba = files.made(datasets, CASES["CelebA"], tmp_path)
    pairs = DataLoader(celeba, 2, collate_fn=lambda samples: tenfold.stack([target for _, target in samples]))
    assert next(iter(pairs)).tolist() == [[0, 1], [1, 1]]
