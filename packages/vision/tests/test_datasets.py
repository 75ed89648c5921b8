"""Datasets on small files in their true formats."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import transforms
from tenfold.vision.datasets import (
    CIFAR10,
    CIFAR100,
    EMNIST,
    MNIST,
    DatasetFolder,
    Digits,
    FakeData,
    FashionMNIST,
    ImageFolder,
    VisionDataset,
    mnist,
)
from tenfold.vision.datasets.idx import read_idx

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (6, 28, 28)).astype(np.uint8)
LABELS = np.array([3, 1, 4, 1, 5, 9], np.uint8)
CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx_bytes(values):
    big = values.astype(values.dtype.newbyteorder(">"))
    header = bytes([0, 0, CODES[values.dtype.str[1:]], values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return header + big.tobytes()


MNIST_FILES = {
    "train-images-idx3-ubyte": idx_bytes(IMAGES[:4]),
    "train-labels-idx1-ubyte": idx_bytes(LABELS[:4]),
    "t10k-images-idx3-ubyte": idx_bytes(IMAGES[4:]),
    "t10k-labels-idx1-ubyte": idx_bytes(LABELS[4:]),
}


@pytest.mark.parametrize("kind", list(CODES))
def test_idx_of_every_type(tmp_path, kind):
    values = np.arange(24).reshape(2, 3, 4).astype(kind)
    (tmp_path / "a").write_bytes(idx_bytes(values))
    np.testing.assert_array_equal(read_idx(tmp_path / "a").numpy(), values, strict=True)


@pytest.mark.parametrize(
    ("data", "message"), [(b"PK\3\4", "50 4b 03 04"), (b"\0", "not an IDX file"), (idx_bytes(LABELS)[:-1], "announces")]
)
def test_what_is_not_idx(tmp_path, data, message):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_idx(tmp_path / "a")


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_from_files(tmp_path, packed):
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, data in MNIST_FILES.items():
        (raw / (name + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)
    dataset = MNIST(str(tmp_path), train=False)
    image, label = dataset[1]
    assert (len(dataset), image.mode, image.size, label) == (2, "L", (28, 28), 9)
    np.testing.assert_array_equal(np.asarray(image), IMAGES[5])
    assert dataset.data.dtype == tenfold.uint8
    assert dataset.targets.dtype == tenfold.int64
    assert dataset.class_to_idx["3 - three"] == 3
    assert repr(dataset) == f"Dataset MNIST\n    Number of datapoints: 2\n    Root location: {tmp_path}\n    Split: Test"


def test_mnist_without_files(tmp_path):
    with pytest.raises(RuntimeError, match="pass download=True, or put train-images-idx3-ubyte"):
        MNIST(tmp_path)


@pytest.fixture
def served_mnist(file_server, monkeypatch):
    resources = []
    for name, data in MNIST_FILES.items():
        packed = gzip.compress(data)
        (file_server.folder / f"{name}.gz").write_bytes(packed)
        resources.append((f"{name}.gz", hashlib.md5(packed).hexdigest()))
    monkeypatch.setattr(FashionMNIST, "resources", resources)
    monkeypatch.setattr(FashionMNIST, "mirrors", [file_server.url + "absent/", file_server.url])
    return file_server


def test_mnist_downloads_from_the_mirror_that_answers(served_mnist, tmp_path):
    dataset = FashionMNIST(tmp_path, download=True, transform=transforms.ToTensor(), target_transform=lambda label: -label)
    image, label = dataset[0]
    assert (len(dataset), tuple(image.shape), label) == (4, (1, 28, 28), -3)
    requests = len(served_mnist.ranges)
    FashionMNIST(tmp_path, train=False, download=True)
    assert len(served_mnist.ranges) == requests


def test_mnist_names_every_mirror_that_failed(served_mnist, tmp_path):
    for path in served_mnist.folder.iterdir():
        path.unlink()
    with pytest.raises(RuntimeError, match=r"from any mirror:\n.*absent/\S+: HTTP Error 404.*\n.*404"):
        FashionMNIST(tmp_path, download=True)


def test_mnist_tries_the_next_mirror_after_a_wrong_checksum(served_mnist, tmp_path, monkeypatch):
    (served_mnist.folder / "broken").mkdir()
    for path in list(served_mnist.folder.glob("*.gz")):
        (served_mnist.folder / "broken" / path.name).write_bytes(b"an error page")
    monkeypatch.setattr(FashionMNIST, "mirrors", [served_mnist.url + "broken/", served_mnist.url])
    assert len(FashionMNIST(tmp_path, download=True)) == 4


def test_emnist(file_server, tmp_path, monkeypatch):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for part, values in {"images-idx3": IMAGES, "labels-idx1": LABELS}.items():
            file.writestr(f"gzip/emnist-letters-train-{part}-ubyte.gz", gzip.compress(idx_bytes(values)))
    (file_server.folder / "gzip.zip").write_bytes(archive.getvalue())
    monkeypatch.setattr(EMNIST, "url", file_server.url + "gzip.zip")
    monkeypatch.setattr(EMNIST, "md5", hashlib.md5(archive.getvalue()).hexdigest())
    dataset = EMNIST(tmp_path, split="letters", download=True)
    assert (len(dataset), dataset[2][1], dataset.classes[:3]) == (6, 4, ["N/A", "a", "b"])
    assert len(EMNIST.classes_split_dict["bymerge"]) == 47
    with pytest.raises(ValueError, match="unknown split 'all'; valid are byclass"):
        EMNIST(tmp_path, split="all")


ROWS = RNG.integers(0, 256, (5, 3072)).astype(np.uint8)


def cifar_files(cls, protocol=2):
    names = [name for name, _ in cls.train_list + cls.test_list]
    batch = {"data": ROWS, cls.label_key: [0, 1, 1, 0, 1]}
    files = {name: pickle.dumps(batch, protocol) for name in names}
    return {**files, cls.meta["filename"]: pickle.dumps({cls.meta["key"]: ["cat", "dog"]}, protocol)}


@pytest.fixture
def cifar_sums(monkeypatch):
    """Accept our own small files: their checksums in place of the published ones."""

    def accept(cls, files):
        for attribute in ("train_list", "test_list"):
            monkeypatch.setattr(
                cls, attribute, [(name, hashlib.md5(files[name]).hexdigest()) for name, _ in getattr(cls, attribute)]
            )
        meta = files[cls.meta["filename"]]
        monkeypatch.setattr(cls, "meta", {**cls.meta, "md5": hashlib.md5(meta).hexdigest()})

    return accept


@pytest.mark.parametrize(("cls", "count"), [(CIFAR10, 25), (CIFAR100, 5)])
def test_cifar(file_server, tmp_path, monkeypatch, cifar_sums, cls, count):
    files = cifar_files(cls)
    cifar_sums(cls, files)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{cls.base_folder}/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    (file_server.folder / cls.filename).write_bytes(archive.getvalue())
    monkeypatch.setattr(cls, "url", file_server.url + cls.filename)
    monkeypatch.setattr(cls, "tgz_md5", hashlib.md5(archive.getvalue()).hexdigest())
    dataset = cls(tmp_path, download=True)
    image, label = dataset[1]
    assert (len(dataset), image.mode, image.size, label, dataset.classes) == (count, "RGB", (32, 32), 1, ["cat", "dog"])
    np.testing.assert_array_equal(np.asarray(image)[0, 0], ROWS[1, [0, 1024, 2048]])
    assert len(cls(tmp_path, train=False)) == 5


def test_a_changed_cifar_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="not found or corrupted"):
        CIFAR10(tmp_path)


class RunsCode:
    def __reduce__(self):
        return (print, ("run",))


def test_a_cifar_file_cannot_run_code(tmp_path, cifar_sums, capsys):
    files = cifar_files(CIFAR100) | {"train": pickle.dumps({"data": RunsCode()})}
    cifar_sums(CIFAR100, files)
    (tmp_path / CIFAR100.base_folder).mkdir()
    for name, data in files.items():
        (tmp_path / CIFAR100.base_folder / name).write_bytes(data)
    with pytest.raises(pickle.UnpicklingError, match=r"asks for builtins\.print, which is not run"):
        CIFAR100(tmp_path)
    assert capsys.readouterr().out == ""


def test_digits_are_split_by_class_and_seed():
    train, test = Digits(), Digits(train=False)
    assert len(train) + len(test) == 1797
    counts = np.bincount(test.targets.numpy())
    assert counts.min() >= 34
    assert counts.max() <= 37
    image, label = train[0]
    assert (image.mode, image.size, type(label)) == ("L", (8, 8), int)
    assert int(train.data.max()) == 255
    np.testing.assert_array_equal(Digits(train=False).targets.numpy(), test.targets.numpy())
    assert not np.array_equal(Digits(train=False, split_seed=1).data.numpy(), test.data.numpy())


def test_digits_share_no_image_between_the_splits():
    pytest.importorskip("sklearn")
    whole = np.concatenate([Digits().data.numpy(), Digits(train=False).data.numpy()])
    from sklearn.datasets import load_digits

    scaled = np.rint(load_digits().images * 255 / 16)
    assert sorted(image.tobytes() for image in whole) == sorted(image.astype(np.uint8).tobytes() for image in scaled)


def test_digits_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        Digits()


def test_fakedata_repeats_itself_and_leaves_the_generator_alone():
    dataset = FakeData(size=3, image_size=(3, 4, 5), transform=transforms.PILToTensor())
    tenfold.manual_seed(1)
    expected = tenfold.rand(3)
    tenfold.manual_seed(1)
    image, label = dataset[2]
    assert tenfold.rand(3).tolist() == expected.tolist()
    assert (tuple(image.shape), 0 <= label < 10) == ((3, 4, 5), True)
    assert image.tolist() == dataset[2][0].tolist()
    assert (
        image.tolist()
        != FakeData(size=3, image_size=(3, 4, 5), random_offset=1, transform=transforms.PILToTensor())[2][0].tolist()
    )
    with pytest.raises(IndexError, match="index 3 is out of range for 3 images"):
        dataset[3]


@pytest.fixture
def folder(tmp_path):
    for name in ("dog/b.png", "cat/deep/a.PNG", "cat/c.jpg"):
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (3, 2), 7).save(path)
    (tmp_path / "root" / "cat" / "note.txt").write_text("not an image")
    return tmp_path / "root"


def test_image_folder(folder):
    dataset = ImageFolder(folder)
    assert dataset.classes == ["cat", "dog"]
    assert dataset.class_to_idx == {"cat": 0, "dog": 1}
    assert [path.removeprefix(str(folder)) for path, _ in dataset.imgs] == ["/cat/c.jpg", "/cat/deep/a.PNG", "/dog/b.png"]
    assert dataset.targets == [0, 0, 1]
    image, label = dataset[2]
    assert (image.mode, image.size, image.getpixel((0, 0)), label) == ("RGB", (3, 2), (7, 7, 7), 1)


def test_dataset_folder_with_its_own_loader(folder):
    texts = DatasetFolder(
        folder, loader=lambda path: path[-8:], is_valid_file=lambda path: path.endswith("txt"), allow_empty=True
    )
    assert [texts[0], len(texts)] == [("note.txt", 0), 1]
    with pytest.raises(FileNotFoundError, match=r"no valid file for the classes dog\. Supported extensions are: \.txt"):
        DatasetFolder(folder, loader=str, extensions=(".txt",))
    with pytest.raises(ValueError, match="exactly one"):
        DatasetFolder(folder, loader=str)


def test_a_folder_without_classes(tmp_path):
    with pytest.raises(FileNotFoundError, match="any class folder"):
        ImageFolder(tmp_path)


def test_transforms_are_given_one_way():
    with pytest.raises(ValueError, match="only one of them"):
        VisionDataset(transforms=lambda image, target: (image, target), transform=abs)


def test_pair_transforms_and_repr():
    class Numbers(VisionDataset):
        def __getitem__(self, index):
            return self._transformed(index, index)

        def __len__(self):
            return 2

    assert Numbers(transforms=lambda image, target: (target + 1, image - 1))[5] == (6, 4)
    text = repr(Numbers("some", transform=transforms.Compose([transforms.ToTensor()])))
    assert text == (
        "Dataset Numbers\n    Number of datapoints: 2\n    Root location: some\n"
        "    StandardTransform\nTransform: Compose(\n               ToTensor()\n           )"
    )


def test_importing_vision_is_light():
    code = (
        "import sys, tenfold.vision as v; v.datasets; v.transforms; v.models; v.utils; v.io; "
        "print([m for m in ('PIL', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_plugin_says_which_api_it_was_written_for():
    from tenfold import vision_plugin as plugin

    assert plugin.TENFOLD_PLUGIN_API == 1


def test_files_of_pictures_and_labels_are_read_by_themselves(tmp_path):
    images, labels = np.arange(8, dtype="u1").reshape(2, 2, 2), np.array([3, 1], "u1")
    for name, values in (("images", images), ("labels", labels)):
        (tmp_path / name).write_bytes(idx_bytes(values))
    assert mnist.read_image_file(tmp_path / "images").tolist() == images.tolist()
    read = mnist.read_label_file(str(tmp_path / "labels"))
    assert (read.tolist(), read.dtype) == ([3, 1], tenfold.int64)
    with pytest.raises(TypeError, match="of uint8"):
        mnist.read_image_file(tmp_path / "labels")
    with pytest.raises(TypeError, match="of uint8"):
        mnist.read_label_file(tmp_path / "images")
