"""Which library reads pictures: Pillow, always."""

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


def disable_beta_transforms_warning() -> None:
    """Do nothing: `transforms.v2` warns of nothing."""


def _is_tracing() -> bool:
    """Whether a program is being traced: nothing here depends on it."""
    return False
