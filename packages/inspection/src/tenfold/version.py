"""`tenfold.version`: the version, and of what it was built with; `cuda` is that of the installed CuPy, else None."""

from importlib.metadata import PackageNotFoundError, version as _version

try:
    __version__ = _version("tenfold-core")
except PackageNotFoundError:  # a source tree that nobody installed
    __version__ = "0"
debug = False
git_version = None
hip = xpu = None
_LIBRARIES = {"cupy-cuda13x": "13.0", "cupy-cuda12x": "12.0"}  # and the oldest CUDA that each is made for


def _cuda() -> str | None:
    """What CUDA the installed CuPy is for: told by its name, as loading it takes long."""
    for library, found in _LIBRARIES.items():
        try:
            _version("tenfold-backend-cuda"), _version(library)
        except PackageNotFoundError:
            continue
        return found
    return None


cuda = _cuda()
