"""Small files in the true layouts of published data sets, made here, and their samples as plain numbers."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix

RNG = np.random.default_rng(0)


def picture(colour: Any, kind: str = "PNG", mode: str = "RGB", size: tuple[int, int] = (3, 2)) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, colour).save(file, kind)
    return file.getvalue()


def red(level: int, kind: str = "PNG") -> bytes:
    return picture((level, 0, 0), kind)


def mat(**values: Any) -> bytes:
    file = io.BytesIO()
    savemat(file, values)
    return file.getvalue()


def idx(values: np.ndarray) -> bytes:
    code = {"u1": 0x08, "i4": 0x0C}[values.dtype.str[1:]]
    return (
        bytes([0, 0, code, values.ndim])
        + struct.pack(f">{values.ndim}i", *values.shape)
        + values.astype(">" + values.dtype.str[1:]).tobytes()
    )


def packed(name: str, files: dict[str, bytes | str]) -> bytes:
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


def lay(root: Path, files: dict[str, bytes | str]) -> None:
    for name, data in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def plain(value: Any) -> Any:
    """Pictures, tensors and arrays as lists of numbers, within whatever they are in."""
    if isinstance(value, Image.Image):
        return value.mode, np.asarray(value).tolist()
    if isinstance(value, np.ndarray) or type(value).__name__ == "Tensor":
        return tuple(value.shape), value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


def records(**columns: list[Any]) -> np.ndarray:
    """Rows as MATLAB's structures."""
    found = np.zeros(len(next(iter(columns.values()))), dtype=[(name, object) for name in columns])
    for name, values in columns.items():
        for row, value in enumerate(values):
            found[name][row] = value
    return found


ATTRIBUTES = "4\nBald Hat\na.jpg -1  1\nb.jpg  1 -1\nc.jpg  1  1\nd.jpg -1 -1\n"
BOXES = "4\nimage_id x_1 y_1 width height\na.jpg 1 2 3 4\nb.jpg 5 6 7 8\nc.jpg 9 9 9 9\nd.jpg 1 1 1 1\n"
POINTS = "4\nlefteye_x lefteye_y\na.jpg 69 109\nb.jpg 1 2\nc.jpg 3 4\nd.jpg 5 6\n"
CELEBA = {
    "celeba/list_eval_partition.txt": "a.jpg 0\nb.jpg 1\nc.jpg 0\nd.jpg 1\n",
    "celeba/identity_CelebA.txt": "a.jpg 7\nb.jpg 8\nc.jpg 9\nd.jpg 8\n",
    "celeba/list_attr_celeba.txt": ATTRIBUTES, "celeba/list_bbox_celeba.txt": BOXES,
    "celeba/list_landmarks_align_celeba.txt": POINTS,
    **{f"celeba/img_align_celeba/{name}.jpg": red(level) for name, level in (("a", 1), ("b", 2), ("c", 3), ("d", 4))},
}  # fmt: skip
LFW = {
    "lfw-py/lfw/Ann_Li/Ann_Li_0001.jpg": red(1), "lfw-py/lfw/Ann_Li/Ann_Li_0002.jpg": red(2),
    "lfw-py/lfw/Bob/Bob_0001.jpg": red(3), "lfw-py/lfw-names.txt": "Ann_Li\t2\nBob\t1\n", "lfw-py/lfw.tgz": b"",
}  # fmt: skip
FACE_ROWS = "0--Parade/a.jpg\n2\n1 2 3 4 0 0 1 0 2 0 \n5 6 7 8 1 0 0 0 0 1 \n0--Parade/b.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n"
WIDER = {
    "widerface/wider_face_split/wider_face_val_bbx_gt.txt": FACE_ROWS,
    "widerface/wider_face_split/wider_face_test_filelist.txt": "0--Parade/c.jpg\n",
    "widerface/WIDER_val/images/0--Parade/a.jpg": red(1), "widerface/WIDER_val/images/0--Parade/b.jpg": red(2),
    "widerface/WIDER_test/images/0--Parade/c.jpg": red(3), "widerface/WIDER_train/images/x": "",
}  # fmt: skip
PAGE = """<html><table><tr><td><a href="x">http://www.flickr.com/photos/someone/1000/</a><ul><li>A dog . </li>
<li>It runs .</li></ul>
</td><td>Image Not Found<ul><li>Lost .</li></ul></td><td><a href="x">http://www.flickr.com/photos/other/22/</a><ul><li>Cat</li></ul>
</td></tr></table></html>"""
SBU_FILES = {
    "dataset/SBU_captioned_photo_dataset_urls.txt": "http://a/1.jpg\nhttp://a/gone.jpg\nhttp://a/2.jpg\n",
    "dataset/SBU_captioned_photo_dataset_captions.txt": "one \nlost\ntwo\n",
    "dataset/1.jpg": red(1), "dataset/2.jpg": red(2),
}  # fmt: skip
CALTECH = {
    "caltech101/101_ObjectCategories/BACKGROUND_Google/image_0001.jpg": red(9),
    "caltech101/101_ObjectCategories/Faces/image_0001.jpg": red(1), "caltech101/101_ObjectCategories/ant/image_0001.jpg": red(2),
    "caltech101/101_ObjectCategories/ant/image_0002.jpg": red(3),
    "caltech101/Annotations/Faces_2/annotation_0001.mat": mat(obj_contour=np.array([[1.0, 2], [3, 4]])),
    "caltech101/Annotations/ant/annotation_0001.mat": mat(obj_contour=np.array([[5.0], [6]])),
    "caltech101/Annotations/ant/annotation_0002.mat": mat(obj_contour=np.array([[7.0], [8]])),
}  # fmt: skip
EDGES = np.empty((20, 1), dtype=object)
for number in range(20):
    EDGES[number, 0] = csc_matrix(np.eye(2, 3, k=number % 3))
MASK = np.arange(6, dtype=np.uint8).reshape(2, 3)
SBD = {
    "train.txt": "2008_1\n", "img/2008_1.jpg": red(1),
    "cls/2008_1.mat": mat(GTcls={"Segmentation": MASK, "Boundaries": EDGES}),
}  # fmt: skip
STREET = "{}/{}/ulm/ulm_000000_000019_{}"
CITY = {
    STREET.format("leftImg8bit", "train", "leftImg8bit.png"): red(1),
    STREET.format("gtFine", "train", "gtFine_labelIds.png"): picture(7, mode="L"),
    STREET.format("gtFine", "train", "gtFine_instanceIds.png"): picture(26001, mode="I;16"),
    STREET.format("gtFine", "train", "gtFine_color.png"): picture((1, 2, 3)),
    STREET.format("gtFine", "train", "gtFine_polygons.json"): json.dumps({"objects": [{"label": "road"}]}),
}  # fmt: skip
PLACES = {
    "categories_places365.txt": "/a/abbey 0\n/b/bar 1\n", "places365_val.txt": "Places365_val_00000001.jpg 1\n",
    "places365_test.txt": "Places365_test_00000001.jpg\n", "places365_train_standard.txt": "/a/abbey/1.jpg 0\n/b/bar/2.jpg 1\n",
    "val_256/Places365_val_00000001.jpg": red(1), "test_large/Places365_test_00000001.jpg": red(2),
    "data_256_standard/a/abbey/1.jpg": red(3), "data_256_standard/b/bar/2.jpg": red(4),
}  # fmt: skip
SPECIES = (
    "00000_Animalia_Arthropoda_Insecta_Diptera_Syrphidae_Eristalis_tenax",
    "00001_Animalia_Chordata_Aves_Gaviiformes_Gaviidae_Gavia_immer",
)
INAT = {f"2021_valid/{SPECIES[0]}/a.jpg": red(1), f"2021_valid/{SPECIES[1]}/b.jpg": red(2)}
INAT18 = {"2018/Aves/1/a.jpg": red(1), "2018/Aves/0/b.jpg": red(2), "2018/Fungi/2/c.jpg": red(3)}
CARS = {
    "stanford_cars/devkit/cars_meta.mat": mat(class_names=np.array(["Acura RL", "Audi A5"], dtype=object)),
    "stanford_cars/devkit/cars_train_annos.mat": mat(
        annotations=records(bbox_x1=[1, 1], **{"class": [2, 1]}, fname=["1.jpg", "2.jpg"])
    ),
    "stanford_cars/cars_train/1.jpg": red(1), "stanford_cars/cars_train/2.jpg": red(2),
}  # fmt: skip
SHEET = RNG.integers(0, 256, (128, 192)).astype(np.uint8)


def bitmap(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values).save(file, "BMP")
    return file.getvalue()


TOUR = {
    "liberty/patches0000.bmp": bitmap(SHEET), "liberty/info.txt": "7 0\n7 1\n8 0\n9 0\n9 0\n",
    "liberty/m50_100000_100000_0.txt": "0 7 0 1 7 0 0\n1 7 0 2 8 0 0\n",
}  # fmt: skip
DIGITS = RNG.integers(0, 256, (3, 28, 28)).astype(np.uint8)
LABELS = np.array([[7, 1, 2, 3, 4, 5, 6, 0], [1, 0, 0, 0, 0, 0, 0, 0], [4, 9, 9, 9, 9, 9, 9, 9]], dtype=np.int32)
QMNIST = {
    "QMNIST/raw/qmnist-train-images-idx3-ubyte": idx(DIGITS), "QMNIST/raw/qmnist-train-labels-idx2-int": idx(LABELS),
}  # fmt: skip
QMNIST_PACKED = {
    "QMNIST/raw/qmnist-test-images-idx3-ubyte.gz": gzip.compress(idx(DIGITS)),
    "QMNIST/raw/qmnist-test-labels-idx2-int.gz": gzip.compress(idx(LABELS)),
    "QMNIST/raw/xnist-images-idx3-ubyte.xz": lzma.compress(idx(DIGITS)),
    "QMNIST/raw/xnist-labels-idx2-int.xz": lzma.compress(idx(LABELS)),
}  # fmt: skip

FLOW = RNG.standard_normal((2, 3, 2)).astype(np.float32)  # (H, W, 2)


def flo(values: np.ndarray) -> bytes:
    return b"PIEH" + struct.pack("<ii", values.shape[1], values.shape[0]) + values.astype("<f4").tobytes()


def pfm(values: np.ndarray, order: str = "<") -> bytes:
    """Of (H, W) or (H, W, 3)."""
    kind, scale = "PF" if values.ndim == 3 else "Pf", -1.0 if order == "<" else 1.0
    return f"{kind}\n{values.shape[1]} {values.shape[0]}\n{scale}\n".encode() + values[::-1].astype(f"{order}f4").tobytes()


def deep_png(values: np.ndarray) -> bytes:
    """A PNG file of 16 bits: (H, W, 3 or 4); each row is written with another of the format's five filters."""
    height, width, colours = values.shape
    before, pixel = bytes(width * colours * 2), colours * 2
    rows = b""
    for y in range(height):
        row = values[y].astype(">u2").tobytes()
        left, corner = bytes(pixel) + row[:-pixel], bytes(pixel) + before[:-pixel]
        guesses = (0, 0, 0, 0, 0)
        out = bytearray()
        for a, b, c, value in zip(left, before, corner, row, strict=True):
            nearest = min((a, b, c), key=lambda guess: abs(a + b - c - guess))  # of equals the first
            guesses = (0, a, b, (a + b) // 2, nearest)
            out.append((value - guesses[y % 5]) % 256)
        rows += bytes([y % 5]) + out
        before = row

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 16, {3: 2, 4: 6}[colours], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


KNOWN = np.stack([RNG.integers(0, 65536, (2, 3)), RNG.integers(0, 65536, (2, 3)), np.arange(6).reshape(2, 3) % 2], 2)
DISPARITY = np.array([[-1.5, 2, 3], [4, 0, np.inf]], dtype=np.float32)
SINTEL = {
    **{f"Sintel/training/{kind}/alley/{i}.png": red(i) for kind in ("clean", "final") for i in (1, 2, 3)},
    **{f"Sintel/training/flow/alley/{i}.flo": flo(FLOW + i) for i in (1, 2)},
    **{f"Sintel/test/clean/wall/{i}.png": red(i) for i in (4, 5)},
}  # fmt: skip
KITTI_FLOW = {
    **{f"KittiFlow/training/image_2/00000{i}_1{j}.png": red(10 * i + j) for i in (0, 1) for j in (0, 1)},
    **{f"KittiFlow/training/flow_occ/00000{i}_10.png": deep_png(KNOWN) for i in (0, 1)},
}  # fmt: skip
HEILBRONN = {
    **{f"hd1k/hd1k_input/image_2/000005_{i:04d}.png": red(i) for i in (1, 2, 3)},
    **{f"hd1k/hd1k_flow_gt/flow_occ/000005_{i:04d}.png": deep_png(KNOWN) for i in (1, 2, 3)},
    **{f"hd1k/hd1k_challenge/image_2/000001_00{i}.png": red(i) for i in (10, 11)},
}  # fmt: skip
CHAIRS = {
    **{f"FlyingChairs/data/0000{i}_img{j}.ppm": red(10 * i + j, "PPM") for i in (1, 2) for j in (1, 2)},
    **{f"FlyingChairs/data/0000{i}_flow.flo": flo(FLOW + i) for i in (1, 2)},
    "FlyingChairs/FlyingChairs_train_val.txt": "2\n1\n",
}  # fmt: skip
TIMES = ("into_future", "into_past")
THINGS = {
    **{f"FlyingThings3D/frames_cleanpass/TRAIN/A/0000/left/000{i}.png": red(i) for i in (1, 2, 3)},
    **{f"FlyingThings3D/optical_flow/TRAIN/A/0000/{time}/left/{time}_000{i}.pfm": pfm(np.dstack([FLOW + i, FLOW[..., :1]]), order)
       for time, order in zip(TIMES, "<>", strict=True) for i in (1, 2, 3)},
}  # fmt: skip


def grey(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values).save(file, "PNG")
    return file.getvalue()


LEVELS = grey(RNG.integers(1, 65536, (2, 3)).astype(np.uint16))
CAMERA = json.dumps({"camera_settings": [{"intrinsic_settings": {"fx": 768.2}}]})
SIDES, SHAPES, FALLS = ("left", "right"), ("shapenet", "reflective", "tree", "hole"), ("single/can/attic", "mixed/attic")
STEREO = {
    **{f"carla-highres/trainingF/a/im{i}.png": red(i + 1) for i in (0, 1)},
    **{f"carla-highres/trainingF/a/disp{i}GT.pfm": pfm(DISPARITY) for i in (0, 1)},
    **{f"Kitti2012/{part}/colored_{i}/0_10.png": red(i + 1) for part in ("training", "testing") for i in (0, 1)},
    "Kitti2012/training/disp_noc/0_10.png": LEVELS,
    **{f"Kitti2015/training/image_{i}/0_10.png": red(i + 1) for i in (2, 3)},
    **{f"Kitti2015/training/disp_occ_{i}/0_10.png": LEVELS for i in (0, 1)},
    **{f"Middlebury2014/train/Piano-{kind}/im{i}.png": red(i + 1) for kind in ("perfect", "imperfect") for i in (0, 1)},
    **{f"Middlebury2014/train/Piano-{kind}/disp{i}.pfm": pfm(DISPARITY) for kind in ("perfect", "imperfect") for i in (0, 1)},
    **{f"Middlebury2014/test/Plants/im{i}.png": red(i + 1) for i in (0, 1)},
    **{f"CREStereo/{kind}/1_{side}.jpg": red(9, "PNG") for kind in SHAPES for side in SIDES},
    **{f"CREStereo/{kind}/1_{side}.disp.png": LEVELS for kind in SHAPES for side in SIDES},
    **{f"FallingThings/{at}/0.{side}.jpg": red(9, "PNG") for at in FALLS for side in SIDES},
    **{f"FallingThings/{at}/0.{side}.depth.png": LEVELS for at in FALLS for side in SIDES},
    **{f"FallingThings/{at}/_camera_settings.json": CAMERA for at in FALLS},
    **{f"SceneFlow/Monkaa/frames_{kind}pass/a/{side}/1.png": red(7) for kind in ("clean", "final") for side in SIDES},
    **{f"SceneFlow/Monkaa/disparity/a/{side}/1.pfm": pfm(DISPARITY) for side in SIDES},
    **{f"Sintel/training/{kind}_{side}/alley/1.png": red(6) for kind in ("clean", "final") for side in SIDES},
    "Sintel/training/disparities/alley/1.png": grey(RNG.integers(0, 256, (2, 3, 3)).astype(np.uint8)),
    **{f"Sintel/training/{kind}/alley/1.png": grey((np.arange(6).reshape(2, 3) % n * 255 // (n - 1)).astype(np.uint8))
       for kind, n in (("occlusions", 2), ("outofframe", 3))},
    **{f"InStereo2k/train/a/{side}.png": red(5) for side in SIDES},
    **{f"InStereo2k/train/a/{side}_disp.png": LEVELS for side in SIDES},
    **{f"ETH3D/two_view_{part}/a/im{i}.png": red(i + 3) for part in ("training", "test") for i in (0, 1)},
    "ETH3D/two_view_training_gt/a/disp0GT.pfm": pfm(DISPARITY),
    "ETH3D/two_view_training_gt/a/mask0nocc.png": grey(np.array([[0, 128, 255], [255, 0, 255]], dtype=np.uint8)),
}  # fmt: skip

# name, arguments after root ("{root}" in a text is the folder), files
LAYOUTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("CelebA", {}, CELEBA), ("CelebA", {"split": "valid", "target_type": ["identity", "bbox", "landmarks"]}, CELEBA),
    ("CelebA", {"split": "all", "target_type": []}, CELEBA),
    ("LFWPeople", {"image_set": "original", "split": "train"}, LFW | {"lfw-py/peopleDevTrain.txt": "2\nAnn_Li\t2\nBob\t1\n"}),
    ("LFWPeople", {"image_set": "original"}, LFW | {"lfw-py/people.txt": "2\n1\nBob\t1\n1\nAnn_Li\t2\n"}),
    ("LFWPairs", {"image_set": "original", "split": "test"},
     LFW | {"lfw-py/pairsDevTest.txt": "1\nAnn_Li\t1\t2\nAnn_Li\t2\tBob\t1\n"}),
    ("WIDERFace", {"split": "val"}, WIDER), ("WIDERFace", {"split": "test"}, WIDER),
    ("SBU", {"download": False}, SBU_FILES | {"SBUCaptionedPhotoDataset.tar.gz": b""}),
    ("Flickr30k", {"ann_file": "{root}/a.token"},
     {"a.token": "b.jpg#0\tOne dog .\nb.jpg#1\tA dog .\na.jpg#0\tCat .\n", "a.jpg": red(1), "b.jpg": red(2)}),
    ("Flickr8k", {"ann_file": "{root}/page.html"}, {"page.html": PAGE, "1000_aa.jpg": red(1), "22_bb.jpg": red(2)}),
    ("Caltech101", {}, CALTECH), ("Caltech101", {"target_type": ["annotation", "category"]}, CALTECH),
    ("SBDataset", {}, SBD), ("SBDataset", {"mode": "segmentation"}, SBD),
    ("Cityscapes", {"target_type": ["semantic", "polygon", "color"]}, CITY), ("Cityscapes", {}, CITY),
    ("Places365", {"split": "val", "small": True}, PLACES), ("Places365", {"split": "test"}, PLACES),
    ("Places365", {"small": True}, PLACES),
    ("INaturalist", {"version": "2021_valid", "target_type": ["full", "class", "genus"]}, INAT),
    ("INaturalist", {"version": "2018", "target_type": ["full", "super"]}, INAT18),
    ("StanfordCars", {}, CARS), ("PhotoTour", {"name": "liberty"}, TOUR),
    ("PhotoTour", {"name": "liberty", "train": False}, TOUR),
    ("Sintel", {}, SINTEL), ("Sintel", {"split": "test"}, SINTEL), ("Sintel", {"pass_name": "both"}, SINTEL),
    ("KittiFlow", {}, KITTI_FLOW), ("HD1K", {}, HEILBRONN), ("HD1K", {"split": "test"}, HEILBRONN),
    ("FlyingChairs", {}, CHAIRS), ("FlyingChairs", {"split": "val"}, CHAIRS), ("FlyingThings3D", {}, THINGS),
    ("CarlaStereo", {}, STEREO), ("Kitti2012Stereo", {}, STEREO), ("Kitti2012Stereo", {"split": "test"}, STEREO),
    ("Kitti2015Stereo", {}, STEREO), ("Middlebury2014Stereo", {"calibration": "both"}, STEREO),
    ("Middlebury2014Stereo", {"split": "test", "calibration": None}, STEREO), ("CREStereo", {}, STEREO),
    ("FallingThingsStereo", {"variant": "both"}, STEREO), ("FallingThingsStereo", {}, STEREO),
    ("SceneFlowStereo", {"variant": "Monkaa", "pass_name": "both"}, STEREO), ("SintelStereo", {"pass_name": "both"}, STEREO),
    ("InStereo2k", {}, STEREO), ("ETH3DStereo", {}, STEREO), ("ETH3DStereo", {"split": "test"}, STEREO),
    ("QMNIST", {}, QMNIST), ("QMNIST", {"what": "train", "compat": False}, QMNIST),
]  # fmt: skip


def made(library: Any, case: tuple[str, dict[str, Any], Any], root: Path) -> Any:
    """The data set of a library on the files of a case."""
    name, options, files = case
    lay(root, files)
    filled = {key: value.format(root=root) if isinstance(value, str) else value for key, value in options.items()}
    return getattr(library, name)(str(root), **filled)


def named(case: tuple[str, dict[str, Any], Any]) -> str:
    return "-".join([case[0], *(str(value) for value in case[1].values())]).replace("{root}/", "")
