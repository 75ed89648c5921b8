"""Writes the type declarations of what is declared by decorators or imported when first asked for.

    python tools/make_stubs.py [--check]

`tenfold/public_names.pyi`, in tenfold-typing, has the names that `tenfold` has beside those that its source imports: the
operators' functions, the dtypes, and what comes from elsewhere on first use. `tenfold/operator_methods.pyi` beside it has
Tensor's methods, and `tenfold/linalg/__init__.pyi` and its like the operators under those modules' names. Read at run time is
`dispatch/late_operators.py`: the names of what core's own modules, and its siblings, declare; and pyproject.toml lists the
siblings' modules that the first file names. With --check nothing is written and the exit status says whether all are up to
date. Every package that declares operators has to be installed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "packages/core/src/tenfold"
TYPING = ROOT / "packages/typing/src/tenfold"
SETTINGS = ROOT / "pyproject.toml"
SIBLING_MODULES = "# tenfold/public_names.pyi names the sibling packages"  # begins the settings' part that is written here
SCIENTIFIC = ROOT / "packages/scientific/src/tenfold"
HEADER = '"""Made by tools/make_stubs.py from the operators\' declarations; do not edit."""\n\n'
IMPORTS = """import builtins
from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.operators import Number
from tenfold.tensor.tensor import Tensor

"""
# Modules whose names are computed from the operators', and the packages whose operators are also `tenfold`'s own names.
NAMESPACES = dict.fromkeys(("fft", "linalg", "special"), SCIENTIFIC)
PUBLIC = ("tenfold.ops.", "tenfold.scientific.ops.")
# Types that the generated files can name; anything else is written as Any.
NAMEABLE = re.compile(r"(?:Any|Tensor|Number|bool|int|float|complex|str|None|tuple|list|Sequence|[\[\]|,. ])+")
BUILTINS = re.compile(r"\b(bool|int|float|complex|str|tuple|list)\b")  # some are operators' names, too


def declared_type(annotation: Any) -> str:
    """An annotation's text in the words of the generated files."""
    text = str(annotation)
    return BUILTINS.sub(r"builtins.\1", text) if NAMEABLE.fullmatch(text) else "Any"


def parameters(signature: inspect.Signature, method: bool, further: Sequence[str] = ()) -> str:
    """The parameter list of a function or method, which takes these further keywords, too."""
    parts, starred = [], False
    for i, p in enumerate(signature.parameters.values()):
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
    further = [name for name in further if name not in signature.parameters]
    if further:
        parts += ([] if starred else ["*"]) + [f"{name}: Any = ..." for name in further]
    return ", ".join(parts)


def declaration(name: str, operator: Any, method: bool) -> str:
    from tenfold import return_types
    from tenfold.dispatch.spellings import numpy_names, takes_out

    further = [*numpy_names(operator), *(["out"] if takes_out(operator) else [])]
    named = operator.name in return_types.FIELDS  # their fields are made when first used
    result = "Any" if named else declared_type(operator.declared.__annotations__.get("return", "Any"))
    return f"def {name}({parameters(operator.signature, method, further)}) -> {result}: ..."


def attribute(name: str, member: Any) -> list[str]:
    """The declaration of what is on the Tensor class and not in its body: an operator, a function or a property."""
    if hasattr(member, "op"):
        return [declaration(name, member.op, True)]
    function = member.fget if isinstance(member, property) else member
    if not (getattr(function, "__module__", None) or "").startswith("tenfold.") or function.__module__ == "tenfold.tensor.tensor":
        return []
    if isinstance(member, property):
        setter = [f"@{name}.setter", f"def {name}(self, value: Any) -> None: ..."] if member.fset else []
        result = declared_type(getattr(function, "__annotations__", {}).get("return", "Tensor"))
        return ["@property", f"def {name}(self) -> {result}: ...", *setter]
    signature = inspect.signature(member)
    return [f"def {name}({parameters(signature, True)}) -> {declared_type(signature.return_annotation)}: ..."]


def public_stubs(tenfold: Any) -> str:
    from tenfold.dispatch.operators import ALIASES, OPERATORS
    from tenfold.plugins import PACKAGES
    from tenfold.types.dtypes import ALIASES as DTYPE_ALIASES, BY_NAME

    public = {**OPERATORS, **{name: fn.op for name, fn in ALIASES.items() if hasattr(fn, "op")}}
    functions = {
        name: operator
        for name, operator in sorted(public.items())
        if (operator.declared.__module__.startswith(PUBLIC) or name in tenfold._LAZY)  # of nn those that are tenfold's, too
        and name[0] != "_"
        and getattr(tenfold, name, None) is operator.fn
    }
    modules = {module.name for module in pkgutil.iter_modules([str(CORE)]) if not module.name.startswith("_")}
    modules |= {name for name in PACKAGES if "." not in name}
    lazy = {name: module for name, module in tenfold._LAZY.items() if module.split(".")[1] in modules}
    lines = [
        "from tenfold.types.dtypes import dtype as _dtype",
        *(f"{name}: _dtype" for name in sorted({*BY_NAME, *DTYPE_ALIASES})),
    ]
    for module in sorted({module for name, module in lazy.items() if name not in functions}):
        names = (f"{name} as {name}" for name in sorted(lazy.keys() - functions.keys()) if lazy[name] == module)
        lines.append(f"from {module} import {', '.join(names)}")
    others = {*functions, *lazy, *(name for name, value in vars(tenfold).items() if not inspect.ismodule(value))}
    lines += [f"import tenfold.{name} as {name}" for name in sorted(modules - others)]
    lines += [declaration(name, operator, False) for name, operator in functions.items()]
    return HEADER + IMPORTS + "\n".join(lines) + "\n"


def namespace_stubs(module: Any) -> str:
    """A module that presents operators under names of its own, such as `tenfold.linalg`."""
    lines = []
    for name, member in sorted(vars(module).items()):
        if hasattr(member, "op"):
            lines.append(declaration(name, member.op, False))
        elif inspect.isclass(member):
            home = next(n for n, m in sys.modules.items() if n.startswith(PUBLIC) and vars(m).get(name) is member)
            lines.append(f"from {home} import {name} as {name}")
    return HEADER + IMPORTS + "".join(f"{line}\n" for line in lines)


def method_stubs(tensor_class: Any) -> str:
    members = [(name, member) for name, member in sorted(vars(tensor_class).items()) if not name.startswith("__")]
    lines = [
        line for name, member in members if callable(member) or isinstance(member, property) for line in attribute(name, member)
    ]
    return HEADER + IMPORTS + "class TensorMethods:\n" + "".join(f"    {line}\n" for line in (*lines, *DUNDERS))


_REFLECTED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_INPLACE = "add sub mul truediv floordiv mod pow and or xor".split()
_BINARY = [*_REFLECTED, *(f"r{n}" for n in _REFLECTED), *(f"i{n}" for n in _INPLACE), "lt", "le", "gt", "ge"]
DUNDERS = [f"def __{n}__(self, other: Any, /) -> Tensor: ..." for n in _BINARY]
# Comparison with == is elementwise, unlike object's.
DUNDERS += [f"def __{n}__(self, other: object, /) -> Tensor: ...  # type: ignore[override]" for n in ("eq", "ne")]
DUNDERS += [f"def __{n}__(self) -> Tensor: ..." for n in ("neg", "pos", "abs", "invert")]
DUNDERS += [
    "def __getitem__(self, index: Any, /) -> Tensor: ...",
    "def __setitem__(self, index: Any, value: Any, /) -> None: ...",
]


_SPELT_OTHERWISE = ("fft_", "linalg_", "special_")  # no program's names: these operators are `tenfold.fft.fft` and so on
_PARTS_OF_OTHERS = re.compile(r"fused_.*|\w+_(grad|pair)")  # nor are these, which composites and gradients call


Places = set[tuple[str, str | None]]  # names, each with the module or distribution that has it


def of_siblings(public: dict[str, Any]) -> Places:
    """Names among these whose operators siblings declare, each with the distribution; core's own left out.

    Nor have those their names here that programs find in modules: each name costs core's wheel some bytes.
    """
    from tenfold.plugins import PACKAGES

    found: Places = set()
    for name, member in public.items():
        package = PACKAGES.get(member.op.declared.__module__.split(".")[1]) if hasattr(member, "op") else None
        inside = name.startswith(("__", *_SPELT_OTHERWISE)) or _PARTS_OF_OTHERS.fullmatch(name)
        if package is not None and not inside:
            found.add((name, package))
    return found


def tables(prefix: str, owners: Sequence[str], functions: Places, methods: Places) -> str:
    """Dictionaries of the names that are both functions and methods, of functions alone and of methods alone, by owner."""
    lines = []
    both = functions & methods
    for title, places in {"BOTH": both, "FUNCTIONS": functions - both, "METHODS": methods - both}.items():
        lines.append(f"{prefix}{title}: dict[str, str] = {{")
        for owner in owners:
            names = {name for name, place in places if place == owner}
            lines += entry(owner, " ".join(starred(names))) if names else []
        lines.append("}")
    return "\n".join(lines) + "\n"


def starred(names: set[str]) -> list[str]:
    """The names in order, an operator and its in-place form as one with a star."""
    pairs = {name for name in names if f"{name}_" in names}
    return sorted({*(f"{name}*" for name in pairs), *(names - pairs - {f"{name}_" for name in pairs})})


def core_modules() -> list[str]:
    """Core's modules of operators, which `import tenfold` leaves for later."""
    from tenfold.plugins.discovery import families

    return ["tenfold.ops._dunders", *(module for modules in families("tenfold.ops").values() for module in modules)]


def late_table(public: dict[str, Any], methods: dict[str, Any]) -> str:
    """The module from which core knows what its own and its siblings' operators are called before it loads them."""
    from tenfold import _LAZY
    from tenfold.plugins import PACKAGES

    own = [{(name, home(name, member)) for name, member in table.items()} for table in (public, methods)]
    siblings = [of_siblings(table) for table in (public, methods)]
    siblings[0] = {(name, package) for name, package in siblings[0] if name not in _LAZY}  # where core has it already
    packages = sorted({*PACKAGES.values()})
    return HEADER.strip() + "\n\n" + tables("", core_modules(), *own) + tables("SIBLINGS_", packages, *siblings)


def home(name: str, member: Any) -> str | None:
    """The module that declares an operator's function or defines a method or property."""
    from tenfold.ops import _dunders

    if name in {*_dunders.BINARY, *_dunders.UNARY, *_dunders.INPLACE, *_dunders.SWAPPED}:
        return _dunders.__name__
    if hasattr(member, "op"):
        return str(member.op.declared.__module__)
    return getattr(member.fget if isinstance(member, property) else member, "__module__", None)


def with_sibling_modules(settings: str, stubs: str) -> str:
    """pyproject.toml's text with the siblings that public_names.pyi names, of which a package may lack any."""
    from tenfold.plugins import PACKAGES

    named = {a or b for a, b in re.findall(r"^(?:from (tenfold\.\S+) import|import (tenfold\.\S+) as)", stubs, re.MULTILINE)}
    packages = sorted({module.split(".")[1] for module in named if module.split(".")[1] in PACKAGES})
    listed = ", ".join(f'"tenfold.{package}.*"' for package in packages)
    lines = "".join(f"    {line}\n" for line in textwrap.wrap(f"{listed},", 120))
    begin = settings.index("module = [\n", settings.index(SIBLING_MODULES)) + len("module = [\n")
    return settings[:begin] + lines + settings[settings.index("]\n", begin) :]


def entry(key: str, text: str) -> list[str]:
    """A dictionary's lines for a text that may be long."""
    whole = f'    "{key}": "{text}",'
    if len(whole) <= 130:
        return [whole]
    parts = [text] if len(text) <= 120 else textwrap.wrap(text, 119)  # as the formatter joins them
    return [f'    "{key}": (', *(f'        "{part} "' for part in parts[:-1]), f'        "{parts[-1]}"', "    ),"]


def main(arguments: list[str]) -> int:
    import tenfold
    from tenfold.dispatch.operators import ALIASES, OPERATORS
    from tenfold.plugins import load_operators

    load_operators()
    importlib.import_module("tenfold.ops._dunders")
    aliases = {name: fn for name, fn in ALIASES.items() if hasattr(fn, "op")}  # others are names of no operators
    public = {**{name: operator.fn for name, operator in OPERATORS.items()}, **aliases}
    stubs = public_stubs(tenfold)
    texts = {
        TYPING / "public_names.pyi": stubs,
        TYPING / "operator_methods.pyi": method_stubs(tenfold.Tensor),
        CORE / "dispatch/late_operators.py": late_table(public, dict(vars(tenfold.Tensor))),
    }
    texts[SETTINGS] = with_sibling_modules(SETTINGS.read_text(), stubs)
    for name, folder in NAMESPACES.items():
        texts[folder / name / "__init__.pyi"] = namespace_stubs(importlib.import_module(f"tenfold.{name}"))
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run python tools/make_stubs.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path])
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
