"""Published pairs of pictures with flow or disparity, and the files that these are in."""

from __future__ import annotations

import dataset_files as files
import numpy as np
import pytest

import tenfold
from tenfold.vision import datasets, io
from tenfold.vision.datasets.flow_files import read_flo, read_pfm

CASES = {files.named(case): case for case in files.LAYOUTS}
FLOW = files.FLOW.transpose(2, 0, 1)


def sample(tmp_path, name, index=0):
    return files.made(datasets, CASES[name], tmp_path)[index]


def test_flow_between_neighbours(tmp_path):
    first, second, flow = sample(tmp_path, "Sintel", 1)
    assert (first.getpixel((0, 0))[0], second.getpixel((0, 0))[0]) == (2, 3)
    np.testing.assert_array_equal(flow, (FLOW + 2).astype(np.float32))
    assert sample(tmp_path, "Sintel-test")[2] is None
    assert len(3 * files.made(datasets, CASES["Sintel-both"], tmp_path)) == 12


def test_flow_with_what_is_known(tmp_path):
    for name in ("KittiFlow", "HD1K"):
        *_, flow, known = sample(tmp_path / name, name)
        np.testing.assert_array_equal(flow, ((files.KNOWN[..., :2] - 2**15) / 64).transpose(2, 0, 1).astype(np.float32))
        assert known.tolist() == (files.KNOWN[..., 2] > 0).tolist()


def test_both_directions_of_time(tmp_path):
    things = files.made(datasets, CASES["FlyingThings3D"], tmp_path)
    order = [tuple(picture.getpixel((0, 0))[0] for picture in (first, second)) for first, second, _ in things]
    assert order == [(1, 2), (2, 3), (2, 1), (3, 2)]
    np.testing.assert_array_equal(things[3][2], (FLOW + 3).astype(np.float32))  # written by another order of bytes


def test_a_list_tells_the_splits_apart(tmp_path):
    assert [len(files.made(datasets, CASES[name], tmp_path)) for name in ("FlyingChairs", "FlyingChairs-val")] == [1, 1]
    assert sample(tmp_path, "FlyingChairs")[0].getpixel((0, 0))[0] == 21


@pytest.mark.parametrize("name", [name for name in CASES if "Stereo" in name or name.startswith("InStereo")])
def test_pictures_of_two_cameras(tmp_path, name):
    *pictures, disparity, mask = (*sample(tmp_path, name), None)[:4]
    assert [picture.size for picture in pictures] == [(3, 2), (3, 2)]
    assert disparity is None if "test" in name else disparity.shape == (1, 2, 3)
    assert mask is None or mask.shape == (2, 3)


def test_disparities(tmp_path):
    known = np.frombuffer(files.LEVELS, np.uint8)
    levels = io.decode_png(tenfold.from_numpy(known.copy())).numpy().astype(np.float64)
    np.testing.assert_array_equal(sample(tmp_path, "Kitti2015Stereo")[2], levels / 256)
    np.testing.assert_array_equal(sample(tmp_path, "InStereo2k")[2], levels / 1024)
    np.testing.assert_allclose(sample(tmp_path, "FallingThingsStereo-both")[2], 6 * 768.2 * 100 / levels, rtol=1e-6)
    *_, disparity, mask = sample(tmp_path, "Middlebury2014Stereo-both")
    assert disparity.tolist() == [[[1.5, 2, 3], [4, 0, 0]]]
    assert mask.tolist() == [[True, True, True], [True, False, False]]
    assert sample(tmp_path, "ETH3DStereo")[3].tolist() == [[False, True, True], [True, False, True]]


def test_transforms_of_all_parts(tmp_path):
    files.lay(tmp_path, files.SINTEL)
    sintel = datasets.Sintel(tmp_path, transforms=lambda first, second, flow, mask: (second, first, -flow, flow[0] > 0))
    first, second, flow, mask = sintel[0]
    assert (first.getpixel((0, 0))[0], second.getpixel((0, 0))[0], mask.shape) == (2, 1, (2, 3))
    np.testing.assert_array_equal(flow, -(FLOW + 1).astype(np.float32))
    files.lay(tmp_path, files.STEREO)
    stereo = datasets.CarlaStereo(tmp_path, transforms=lambda pictures, disparities, masks: (pictures[::-1], disparities, masks))
    assert stereo[0][0].getpixel((0, 0))[0] == 2


def test_what_is_missing_is_named(tmp_path):
    for kind in (datasets.Sintel, datasets.KittiFlow, datasets.HD1K, datasets.FlyingThings3D):
        with pytest.raises(FileNotFoundError, match=rf"{kind.__name__}: no pictures in .*{kind.place}"):
            kind(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"FlyingChairs_train_val\.txt is not there"):
        datasets.FlyingChairs(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"CarlaStereo: no files match .*im0\.png"):
        datasets.CarlaStereo(tmp_path)
    with pytest.raises(ValueError, match=r"it is None|of 'test' it is None"):
        datasets.Middlebury2014Stereo(tmp_path, "test")
    files.lay(tmp_path, files.STEREO)
    (tmp_path / "InStereo2k" / "train" / "b").mkdir()
    (tmp_path / "InStereo2k" / "train" / "b" / "left.png").write_bytes(files.red(1))
    with pytest.raises(ValueError, match=r"2 files match .*left\.png, but 1 match .*right\.png"):
        datasets.InStereo2k(tmp_path)


def test_files_that_are_no_flow(tmp_path):
    path = tmp_path / "a"
    for data in (b"", b"PIEH", files.flo(files.FLOW)[:-1], b"HEIP" + files.flo(files.FLOW)[4:]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"is no \.flo file"):
            read_flo(path)
    for data in (b"", b"P5 3 2 255\n", b"Pf\n3\n"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="is no portable float map"):
            read_pfm(path, 1)
    path.write_bytes(files.pfm(files.DISPARITY)[:-4])
    with pytest.raises(ValueError, match="has 5 values, but says 1 of 3x2"):
        read_pfm(path, 1)


@pytest.mark.parametrize("colours", [3, 4])
def test_sixteen_bits_a_colour(colours):
    values = np.random.default_rng(1).integers(0, 65536, (7, 5, colours))
    data = tenfold.from_numpy(np.frombuffer(files.deep_png(values), np.uint8).copy())
    found = io.decode_image(data)
    assert found.dtype == tenfold.uint16
    np.testing.assert_array_equal(found.numpy(), values.transpose(2, 0, 1))
    np.testing.assert_array_equal(io.decode_png(data, "RGB").numpy(), values[..., :3].transpose(2, 0, 1))
    with pytest.raises(RuntimeError, match="are no PNG image"):
        io.decode_png(data[:-40])
