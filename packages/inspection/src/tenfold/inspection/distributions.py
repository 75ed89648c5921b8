"""The installed distributions of Tenfold beside one another: versions that do not fit, files that two of them own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata
from itertools import zip_longest

FAMILY = "tenfold-"
_CLAUSE = re.compile(r"(~=|===?|!=|<=|>=|<|>)\s*([0-9][\w.+!-]*?)(\.\*)?\s*(?:,|$)")


def installed() -> list[metadata.Distribution]:
    """Each distribution whose name begins with tenfold-, once."""
    found = {d.name.lower().replace("_", "-"): d for d in metadata.distributions() if d.name}
    return [found[name] for name in sorted(found) if name.startswith(FAMILY)]


def out_of_range(distributions: Iterable[metadata.Distribution]) -> list[str]:
    """What one distribution declares to need and another is not."""
    versions = {d.name.lower().replace("_", "-"): d.version for d in distributions}
    found = []
    for distribution in distributions:
        for requirement in distribution.requires or ():
            named, _, marker = requirement.partition(";")
            name = re.split(r"[^\w.-]", named.strip(), maxsplit=1)[0].lower().replace("_", "-")
            version = versions.get(name)
            if version is not None and "extra" not in marker and not accepts(named, version):
                found.append(f"{distribution.name} {distribution.version} needs {named.strip()}, installed is {name} {version}")
    return found


def accepts(requirement: str, version: str) -> bool:
    """Whether a requirement's bounds hold for a version, by the numbers of its release.

    >>> accepts("tenfold-core>=0.1,<0.3", "0.2.1"), accepts("tenfold-core~=0.1.2", "0.2")
    (True, False)
    """
    return all(_holds(version, *clause) for clause in _CLAUSE.findall(requirement.partition(";")[0]))


def _holds(version: str, operator: str, bound: str, wildcard: str) -> bool:
    order = _compared(version, bound)
    if wildcard:
        same = _release(version)[: len(_release(bound))] == _release(bound)
        return same if operator == "==" else not same
    if operator == "~=":
        return order >= 0 and _release(version)[: len(_release(bound)) - 1] == _release(bound)[:-1]
    return {"==": order == 0, "===": version == bound, "!=": order != 0,
            "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]  # fmt: skip


def _release(version: str) -> list[int]:
    match = re.match(r"\d+(\.\d+)*", version)
    return [int(part) for part in match[0].split(".")] if match else []


def _compared(version: str, bound: str) -> int:
    pairs = list(zip_longest(_release(version), _release(bound), fillvalue=0))
    return next(((a > b) - (a < b) for a, b in pairs if a != b), 0)


def owned_twice(distributions: Iterable[metadata.Distribution]) -> list[str]:
    """Files below `tenfold/`, and modules by their names, that two distributions own."""
    owners: dict[str, list[str]] = {}
    for distribution in distributions:
        for name in {_owned(str(file)) for file in distribution.files or ()} - {""}:
            owners.setdefault(name, []).append(f"{distribution.name} {distribution.version}")
    return [f"{name} is owned by {' and '.join(sorted(of))}" for name, of in sorted(owners.items()) if len(of) > 1]


def _owned(file: str) -> str:
    """What a file stands for: the module's name for Python's sources, else the path; "" for what is not Tenfold's or compiled."""
    path = file.replace("\\", "/")
    if not path.startswith("tenfold/") or "__pycache__" in path:
        return ""
    return re.sub(r"(/__init__)?\.py$", "", path).replace("/", ".") if path.endswith(".py") else path
