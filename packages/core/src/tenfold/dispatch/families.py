"""Families of operators as folders show them: what is in `FAMILY.py` or in `FAMILY/` belongs to the family."""

from __future__ import annotations

import importlib
import pkgutil


def families(package: str) -> dict[str, tuple[str, ...]]:
    """{family: names of its modules} below a package such as "tenfold.ops"; names with a leading underscore do not count.

    >>> from tenfold.dispatch.families import families
    >>> families("tenfold.ops")["matmul"]
    ('tenfold.ops.matmul.einsum', 'tenfold.ops.matmul.products')
    """
    found = {}
    for family, is_folder in _listed(package):
        name = f"{package}.{family}"
        found[family] = tuple(f"{name}.{module}" for module, _ in _listed(name)) if is_folder else (name,)
    return found


def _listed(package: str) -> list[tuple[str, bool]]:
    path = importlib.import_module(package).__path__
    return [(found.name, found.ispkg) for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]
