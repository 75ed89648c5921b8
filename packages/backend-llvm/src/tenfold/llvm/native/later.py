"""The modules of native functions that are compiled when the first call needs one: what they borrow of the native module."""

from __future__ import annotations

import re
from importlib.resources import files

# The parts by the variable that names what compiles them: their files, and the functions that native code finds in `later_…`.
PARTS = {
    "m_along": (("along.ll",), ("along",)),
    "m_places": (("scattering.ll", "comparing.ll"), ("scatter_path", "equal_path")),
    "m_draws": (("random_paths.ll",), ("draw_path",)),
}
_FUNCTION = re.compile(r"^(define [^@\n]*@([\w.]+)\([^\n]*) \{\n.*?^\}$", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(r"^declare [^@\n]*@([\w.]+)\(.*$", re.MULTILINE)
_VARIABLE = re.compile(r"^@(\w+) = global (\[[^]]*\]|\S+)", re.MULTILINE)
_NAME = re.compile(r"@([\w.]+)")


def source(part: str, base: str) -> str:
    """A part as a module: its own functions, `base`'s that stand inline, and declarations of what else it uses of `base`.

    What it calls of `base` must not be `internal` there.
    """
    folder = files("tenfold.llvm.native")
    text = "\n".join((folder / name).read_text("utf-8") for name in PARTS[part][0])
    known = {found[1]: found[0] for found in _DECLARED.finditer(base)}
    known |= {found[1]: f"@{found[1]} = external global {found[2]}" for found in _VARIABLE.finditer(base)}
    functions = {found[2]: found for found in _FUNCTION.finditer(base)}
    there = {found[2] for found in _FUNCTION.finditer(text)} | {found[1] for found in _DECLARED.finditer(text)}
    wanted, borrowed = [text], []
    while wanted:
        for name in _NAME.findall(wanted.pop()):
            if name not in there:
                there.add(name)
                line = _borrowed(functions[name]) if name in functions else known[name]
                borrowed.append(line)
                wanted.append(line)
    return "\n".join([*borrowed, text])


def _borrowed(function: re.Match[str]) -> str:
    """A function that stands inline; else its declaration."""
    whole, head = function[0], function[1]
    if "alwaysinline" in head:
        return whole
    if " internal " in head:
        raise RuntimeError(f"a function that other modules call is internal: {head}")
    return head.replace("define ", "declare ", 1)
