"""`tenfold.version`: the version, and of what it was built with."""

from importlib.metadata import PackageNotFoundError, version as _version

try:
    __version__ = _version("tenfold-core")
except PackageNotFoundError:  # a source tree that nobody installed
    __version__ = "0"
debug = False
git_version = None
cuda = hip = xpu = None
