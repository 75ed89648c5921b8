"""Films read by a process and then by one that was forked from it."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

av = pytest.importorskip("av")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there")

import tenfold  # noqa: E402
from tenfold.vision.datasets.films import read_pictures  # noqa: E402
from tenfold.vision.io import VideoReader, read_video, write_video  # noqa: E402

READERS = {
    "read_pictures": lambda path: read_pictures(path, 0, 3),
    "read_video": lambda path: read_video(path, pts_unit="sec")[0],
    "VideoReader": lambda path: tenfold.stack([frame["data"] for frame in VideoReader(path)]),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_reads_what_its_parent_read(tmp_path, name):
    path = str(tmp_path / "film.mp4")
    pictures = (tenfold.arange(4 * 32 * 32 * 3) % 251).to(tenfold.uint8).reshape(4, 32, 32, 3)
    write_video(path, pictures, 5, "mpeg4")
    expected = READERS[name](path)
    forked = multiprocessing.get_context("fork")
    receive, send = forked.Pipe(duplex=False)
    child = forked.Process(target=lambda: send.send(READERS[name](path).tolist()), daemon=True)
    child.start()
    found = receive.poll(30)
    if not found:
        child.kill()
    child.join()
    assert found, "the forked process waits for ever"
    assert receive.recv() == expected.tolist()
