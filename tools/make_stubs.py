"""Writes the type declarations of the operators, which are declared by decorators and so invisible to type checkers.

    python tools/make_stubs.py [--check]

`tenfold/operator_functions.pyi` has the public functions, `tenfold/operator_methods.pyi` Tensor's methods. With
--check nothing is written and the exit status says whether they are up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "packages/core/src/tenfold"
HEADER = '"""Made by tools/make_stubs.py from the operators\' declarations; do not edit."""\n\n'
FUNCTIONS_HEAD = HEADER + "from collections.abc import Sequence\nfrom typing import Any\n\nfrom tenfold.tensor import Tensor\n\n"
# Types that the generated files can name; anything else is written as Any.
NUMBER = "float | complex"


def declared_type(annotation: Any) -> str:
    """An annotation's text in the words of the generated files."""
    text = str(annotation)
    if text == "Ints":
        return "int | Sequence[int]"
    text = text.replace("Number", NUMBER)
    return text if re.fullmatch(r"(?:Any|Tensor|bool|int|float|complex|str|None|tuple|list|Sequence|[\[\]|,. ])+", text) else "Any"


def parameters(operator: Any, method: bool) -> str:
    """The parameter list of a function or method."""
    parts, starred = [], False
    for i, p in enumerate(operator.signature.parameters.values()):
        if method and i == 0:
            parts.append("self")
            continue
        default = "" if p.default is inspect.Parameter.empty else " = ..."
        if str(p.annotation) == "Ints":
            parts += [f"*{p.name}_: Any", f"{p.name}: Any = ..."]
            starred = True
        elif p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            starred = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            parts.append(f"{p.name}: {declared_type(p.annotation)}{default}")
    if operator.out and operator.inplace_of is None and "out" not in operator.signature.parameters:
        parts += ([] if starred else ["*"]) + ["out: Any = ..."]
    return ", ".join(parts)


def result_type(operator: Any) -> str:
    text = str(operator.declared.__annotations__.get("return", "Any"))
    return declared_type(text)


def function_stubs(operators: dict[str, Any]) -> str:
    lines = [
        f"def {name}({parameters(operator, False)}) -> {result_type(operator)}: ..."
        for name, operator in sorted(operators.items())
        if not name.startswith("_") and name.isidentifier()
    ]
    return FUNCTIONS_HEAD + "\n".join(lines) + "\n"


def method_stubs(tensor_class: Any) -> str:
    lines = []
    for name, member in sorted(vars(tensor_class).items()):
        operator = getattr(member, "op", None)
        if operator is not None:
            lines.append(f"    def {name}({parameters(operator, True)}) -> {result_type(operator)}: ...")
    return FUNCTIONS_HEAD + "class TensorMethods:\n" + "\n".join(lines + DUNDERS) + "\n"


_BINARY = "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul and or xor lshift rshift lt le gt ge"
DUNDERS = [f"    def __{n}__(self, other: Any, /) -> Tensor: ..." for n in _BINARY.split()]
DUNDERS += [f"    def __{n}__(self, other: object, /) -> Tensor: ...  # type: ignore[override]" for n in ("eq", "ne")]
DUNDERS += ["    def __getitem__(self, index: Any, /) -> Tensor: ...", "    def __setitem__(self, index: Any, value: Any, /) -> None: ..."]
DUNDERS += [f"    def __{n}__(self) -> Tensor: ..." for n in ("neg", "pos", "abs", "invert")]


def main(arguments: list[str]) -> int:
    import tenfold
    from tenfold.operators import OPERATORS

    core = {n: o for n, o in OPERATORS.items() if o.declared.__module__.startswith("tenfold.ops.")}
    texts = {"operator_functions.pyi": function_stubs(core), "operator_methods.pyi": method_stubs(tenfold.Tensor)}
    stale = [name for name, text in texts.items() if not (TARGET / name).exists() or (TARGET / name).read_text() != text]
    if "--check" in arguments:
        for name in stale:
            print(f"{name} is out of date: run python tools/make_stubs.py")
        return 1 if stale else 0
    for name in stale:
        (TARGET / name).write_text(texts[name])
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
