"""Bytes of image files of every format become pixels, and what is no image of the format says so."""

import io as python_io

import numpy as np
import pytest
from PIL import Image

import tenfold
from tenfold.vision import io

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)


def data_of(image, format, **options):
    file = python_io.BytesIO()
    image.save(file, format=format, **options)
    return tenfold.from_numpy(np.frombuffer(file.getvalue(), dtype=np.uint8).copy())


def planes(image):
    return np.asarray(image).transpose(2, 0, 1).tolist()


PICTURE = Image.fromarray(PIXELS)
LOSSLESS = {"PNG": ({}, io.decode_png), "WEBP": ({"lossless": True}, io.decode_webp)}


@pytest.mark.parametrize("format", LOSSLESS)
def test_lossless_formats_give_the_pixels(format):
    options, decode = LOSSLESS[format]
    data = data_of(PICTURE, format, **options)
    assert decode(data).tolist() == io.decode_image(data).tolist() == planes(PICTURE)
    assert decode(data, "RGB_ALPHA")[3].unique().tolist() == [255]
    assert decode(data, io.ImageReadMode.GRAY).shape == (1, 4, 6)


def test_jpeg_gives_what_pillow_reads():
    data = data_of(PICTURE, "JPEG", quality=90)
    expected = planes(Image.open(python_io.BytesIO(data.numpy().tobytes())))
    assert io.decode_jpeg(data).tolist() == expected
    assert [picture.tolist() for picture in io.decode_jpeg([data, data])] == [expected, expected]
    again = io.encode_jpeg([io.decode_jpeg(data)] * 2, quality=90)
    assert [bytes(file.tolist()) for file in again] == [bytes(io.encode_jpeg(io.decode_jpeg(data), 90).tolist())] * 2
    turned = data_of(
        PICTURE,
        "JPEG",
        exif=b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00",
    )
    assert (io.decode_jpeg(turned).shape, io.decode_jpeg(turned, apply_exif_orientation=True).shape) == ((3, 4, 6), (3, 6, 4))


def test_avif():
    pytest.importorskip("PIL.features").check("avif") or pytest.skip("this build of Pillow has no AVIF")
    assert io.decode_avif(data_of(PICTURE, "AVIF")).shape == (3, 4, 6)


def test_a_gif_of_several_pictures_is_a_film():
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    frames = [Image.new("RGB", (5, 2), colour) for colour in colours]
    data = data_of(frames[0], "GIF", save_all=True, append_images=frames[1:])
    film = io.decode_gif(data)
    assert film.shape == (3, 3, 2, 5)
    assert film[:, :, 0, 0].tolist() == [list(colour) for colour in colours] == io.decode_image(data)[:, :, 1, 4].tolist()
    assert io.decode_gif(data_of(frames[1], "GIF"))[:, 0, 0].tolist() == [0, 255, 0]


def test_sixteen_bit_grey_keeps_its_values():
    values = np.array([[0, 1, 65535]], dtype=np.uint16)
    found = io.decode_png(data_of(Image.fromarray(values), "PNG"))
    assert (found.dtype, found.numpy().tolist()) == (tenfold.uint16, [values.tolist()])


@pytest.mark.parametrize("decode", [io.decode_jpeg, io.decode_png, io.decode_gif, io.decode_webp, io.decode_avif])
def test_bytes_of_another_format_or_of_half_a_file(decode):
    other = data_of(PICTURE, "BMP")
    with pytest.raises(RuntimeError, match=rf"{decode.__name__}: the {len(other)} bytes are no"):
        decode(other)
    for wrong in (tenfold.zeros(0, dtype=tenfold.uint8), tenfold.zeros(4), tenfold.zeros(2, 2, dtype=tenfold.uint8)):
        with pytest.raises(RuntimeError, match="non-empty 1-d uint8"):
            decode(wrong)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF"])
def test_half_a_file_is_no_image(format):
    data = data_of(Image.fromarray(np.tile(PIXELS, (20, 20, 1))), format)
    with pytest.raises(RuntimeError, match="bytes are no"):
        io.decode_image(data[: len(data) // 2])


def test_what_cannot_be_asked(tmp_path):
    with pytest.raises(RuntimeError, match="should be UNCHANGED, GRAY or RGB, got RGB_ALPHA"):
        io.decode_jpeg(data_of(PICTURE, "JPEG"), io.ImageReadMode.RGB_ALPHA)
    with pytest.raises(RuntimeError, match="1-d uint8"):
        io.write_file(tmp_path / "a", tenfold.zeros(3))
    io.write_file(tmp_path / "a", tenfold.tensor([1, 2], dtype=tenfold.uint8))
    assert io.read_file(tmp_path / "a").tolist() == [1, 2]
