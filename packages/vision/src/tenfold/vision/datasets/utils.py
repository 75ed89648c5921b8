"""torchvision's path to downloading and unpacking."""

from __future__ import annotations

from tenfold.data.archive import download_and_extract_archive, extract_archive
from tenfold.data.download import calculate_md5, check_integrity, check_md5, download_url

__all__ = ["calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive", "download_url", "extract_archive"]
