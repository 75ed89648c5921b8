"""Which libraries read pictures and films: Pillow and PyAV, always."""

from __future__ import annotations


def get_image_backend() -> str:
    """The name of the library that reads pictures.

    >>> get_image_backend()
    'PIL'
    """
    return "PIL"


def set_image_backend(backend: str) -> None:
    """Accept the one library that there is.

    Raises:
        ValueError: another library.
    """
    if backend != "PIL":
        raise ValueError(f"set_image_backend: pictures are read by 'PIL' alone, got {backend!r}")


def get_video_backend() -> str:
    """The name of the library that reads films.

    >>> get_video_backend()
    'pyav'
    """
    return "pyav"


def set_video_backend(backend: str) -> None:
    """Do nothing, whatever is asked for: PyAV is the one library that reads films, here as in torchvision."""


def disable_beta_transforms_warning() -> None:
    """Do nothing: `transforms.v2` warns of nothing."""


def _is_tracing() -> bool:
    """Whether a program is being traced: nothing here depends on it."""
    return False
