"""Which path serves each operator on the device "cuda": `python -m tenfold.cuda.paths [operator...]`.

"triton": a Triton kernel of this package; "library": CuPy, cuBLAS and their like; "host": copied there and back, announced once;
"generic": Tenfold's own for any device; "body": the operators that it is made of; "none": there is no way. `--page` writes the
table as the page docs/guide/cuda_operators.md, which a test compares.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from tenfold import plugins
from tenfold.dispatch import kernels
from tenfold.dispatch.operators import OPERATORS, Operator

PATHS = {
    "triton": "A Triton kernel of this package.",
    "library": "CuPy's kernels, cuBLAS and their like; half precision is summed in float32.",
    "generic": "Tenfold's own kernel for any device: views, and whatever needs no arithmetic of its own.",
    "body": "The operators that it is made of, each by its own path.",
    "host": "Copied to the processor and back, with one warning; it waits for the device.",
    "none": "There is no way.",
}
# Modules that call the array module or NVIDIA's libraries.
LIBRARY = frozenset(
    ("array_indexing", "array_kernels", "linalg", "linear", "matmul", "products", "reduction", "scientific", "spectral")
)
PACKAGES = ("tenfold.ops.", "tenfold.dispatch.", "tenfold.nn.", "tenfold.scientific.")  # of whose operators the page is


def path_of(operator: Operator) -> str:
    """The path of one operator; `plugins.load_operators()` comes before."""
    if getattr(kernels.table("cuda"), operator.name, None) is None:
        return "none" if operator.body is None else "body"
    found = kernels.KERNELS.get((operator.name, "cuda"))
    if not found or operator.view:
        return "generic"
    if all("on the host" in entry.note for entry in found):
        return "host"
    return "library" if found[0].function.__module__.rpartition(".")[2] in LIBRARY else "triton"


def paths() -> dict[str, str]:
    """The path of every installed operator; an in-place one has that of its base."""
    plugins.load_operators()
    return {o.name: path_of(o) for o in OPERATORS.values() if o.inplace_of is None}


def page() -> str:
    """The table as a page: for each path the operators, by family."""
    table = {name: path for name, path in paths().items() if OPERATORS[name].fn.__module__.startswith(PACKAGES)}
    counted = Counter(table.values())
    lines = [
        '# Which operator runs how on the device "cuda"', "",
        "Written by `python -m tenfold.cuda.paths --page`; a test compares. A kernel may leave single calls, such as those of",
        "complex numbers, to the body; in-place operators go the way of their base.", "",
        "| path | operators | what it is |", "|---|---|---|",
        *[f"| {path} | {counted[path]} | {text} |" for path, text in PATHS.items()],
    ]  # fmt: skip
    for path in PATHS:
        lines += _section(path, sorted((OPERATORS[name].family, name) for name in table if table[name] == path))
    return "\n".join(lines) + "\n"


def _section(path: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    families = [(family, " ".join(f"`{name}`" for _, name in found)) for family, found in groupby(rows, lambda row: row[0])]
    return [
        "",
        f"## {path}",
        "",
        "| family | operators |",
        "|---|---|",
        *[f"| {family} | {names} |" for family, names in families],
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the rows that are named; the exit status is 1 if an operator has no path."""
    names = list(sys.argv[1:] if arguments is None else arguments)
    if names == ["--page"]:
        print(page(), end="")
        return 0
    table = paths()
    for name in sorted(names or table):
        print(f"{name:<44}{table[name]}")
    counted = Counter(table.values())
    print(", ".join(f"{path} {counted[path]}" for path in PATHS))
    return 1 if counted["none"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
