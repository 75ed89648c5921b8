"""Which path serves each operator on the device "cuda": `python -m tenfold.cuda.paths [operator...]`.

"kernel": of this package, by Triton or the array module; "host": copied there and back, announced once; "generic": Tenfold's
own for any device; "body": the operators that it is made of; "none": there is no way.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from tenfold import plugins
from tenfold.dispatch import kernels
from tenfold.dispatch.operators import OPERATORS, Operator

PATHS = ("kernel", "host", "generic", "body", "none")


def path_of(operator: Operator) -> str:
    """The path of one operator; `plugins.load_operators()` comes before."""
    if getattr(kernels.table("cuda"), operator.name, None) is None:
        return "none" if operator.body is None else "body"
    found = kernels.KERNELS.get((operator.name, "cuda"))
    if not found:
        return "generic"
    return "host" if all("on the host" in entry.note for entry in found) else "kernel"


def paths() -> dict[str, str]:
    """The path of every installed operator; an in-place one has that of its base."""
    plugins.load_operators()
    return {o.name: path_of(o) for o in OPERATORS.values() if o.inplace_of is None}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the rows that are named; the exit status is 1 if an operator has no path."""
    names = list(sys.argv[1:] if arguments is None else arguments)
    table = paths()
    for name in sorted(names or table):
        print(f"{name:<44}{table[name]}")
    counted = Counter(table.values())
    print(", ".join(f"{path} {counted[path]}" for path in PATHS))
    return 1 if counted["none"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
