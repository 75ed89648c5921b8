"""Makes the code that runs when an operator is called, specialised for its signature.

A call in the common case (plain tensors of one device and dtype, no layer entered) is: read the arrays, look the
kernel up, call it, wrap the result, attach a gradient node if an input has one. Everything else goes to
`dispatch.dispatch`, which does the same in full generality. `print(tenfold.add.source)` shows what was made for `add`.
"""

from __future__ import annotations

import inspect
import linecache
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.dispatch.layout import arranged
from tenfold.dispatch.operators import TENSOR_ROLES, Operator, Param
from tenfold.dispatch.reading import Reading, tensor_params
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.spellings import in_rest, numpy_names, old_forms, old_order, renamed_and_after, takes_out

_lock = threading.RLock()
# A tensor parameter that holds no tensor, an empty list, a device for which no kernel was looked up yet.
_EXCEPT = "    except (AttributeError, IndexError, TypeError, KeyError, OverflowError):"
_READABLE = (int, float, bool, str, type(None))
# The names of the generated code, which no parameter may have; its locals end with an underscore.
_LOCALS = frozenset("r_ t_ s_ d_ b_ x_ T_ key_ slow_ kernel_ error_ rest_ old_ changed_".split())
_GLOBALS = frozenset(
    "ACTIVE TRANSFORMS GRAD_OFF grad_enabled dispatch dispatch_dunder recovered has_gradient wrong_result new Tensor "
    "Storage INFERENCE settle note_view refused arrange arrange_power by_rows note_layout CPU ref id "
    "wrap_all wrap_views F32 F64 I64 WHOLE HALVES beside_half DEFAULT "
    "type len int float bool ONE as_float as_complex "
    "DTYPE REQUIRED as_dtype as_int as_dims as_bool old_form missing absent NotImplemented Exception TypeError".split()
)


def specialise(operator: Operator) -> Any:
    """Compile the operator's call path, put it into its public function, whose identity stays, and return that."""
    with _lock:
        name = operator.name
        _check_names(operator)
        operator.calls.publish()
        made = _compiled(name, source(operator), DEFAULT={p.name: p.default for p in operator.params})
        call = made[name]
        made["bind_" + name].__qualname__ = name  # for Python's errors about wrong calls
        operator.calls.binder = made["bind_" + name]
        fn = operator.fn
        fn.__defaults__, fn.__kwdefaults__ = call.__defaults__, call.__kwdefaults__
        fn.__code__ = call.__code__
        return fn


def _check_names(operator: Operator) -> None:
    """Refuse parameters whose names mean something else in the generated code."""
    taken = {prefix + p.name for p in operator.params if p.role in TENSOR_ROLES for prefix in ("a_", "n_")} | _LOCALS | _GLOBALS
    taken |= {p.name + "_" for p in operator.params if p.role == "ints"}
    if takes_out(operator):
        taken.add("out")
    for p in operator.params:
        if p.name in taken or (p.role == "ints" and p.name + "_" in _LOCALS):
            raise TypeError(f"operator {operator.name}: no parameter may be named {p.name!r}, generated code uses it; rename it")


def source(operator: Operator) -> str:
    """The generated module text: the call path and the function that binds arguments."""
    if operator.inplace_of is not None:
        lines = _inplace(operator)
    elif operator.body is not None:
        lines = _composite(operator)
    else:
        lines = _primitive(operator)
    names = numpy_names(operator)
    complete = ", ".join([_signature(operator, binder=True), *(f"{name}=None" for name in names)])
    binder = [f"def bind_{operator.name}({complete}):", *_normalise_ints(operator)]
    for name, ours in names.items():
        binder += [f"    if {name} is not None:", f"        {ours} = {name}"]
    for name in renamed_and_after(operator):
        binder += [f"    if {name} is REQUIRED:", f"        raise missing({operator.name!r}, {name!r})"]
    binder += _normalise_values(operator, operator.params)
    binder += [f"    return {{{_by_name(operator)}}}"]
    taken = [p for p in operator.params if not (names and in_rest(operator, p))]
    lines = [*_normalise_ints(operator, bool(names)), *_normalise_values(operator, taken), *old_order(operator), *lines]
    return "\n".join([f"def {operator.name}({_signature(operator, bool(names))}):", *lines, "", *binder]) + "\n"


# The pieces of the text


def _signature(operator: Operator, rest: bool = False, binder: bool = False) -> str:
    """The parameters as text; with `rest` those in `**rest_` are left out, and only calls take deprecated orders."""
    parts, starred = [], False
    late = renamed_and_after(operator)
    old = "*old_" if old_forms(operator) and not binder else "*"
    for p in operator.params:
        if rest and in_rest(operator, p):
            continue
        if p.role == "ints":
            parts += [f"*{p.name}_"] if rest else [f"*{p.name}_", f"{p.name}=None"]
            starred = True
            continue
        if p.role == "args":
            parts.append("*" + p.name)
            starred = True
            continue
        if p.keyword_only and not starred:
            parts.append(old)
            starred = True
        parts.append(p.name + ("=REQUIRED" if p.name in late else _default(p)))
    if rest:
        parts += [old] * (old != "*" and not starred) + ["**rest_"]
    elif takes_out(operator):
        parts.extend(["out=None"] if starred else ["*", "out=None"])
    return ", ".join(parts)


def _default(p: Param) -> str:
    if p.default is inspect.Parameter.empty:
        return ""
    return f"={p.default!r}" if type(p.default) in _READABLE else f"=DEFAULT[{p.name!r}]"


def _normalise_ints(operator: Operator, rest: bool = False) -> Iterator[str]:
    """`permute(x, 0, 1)`, `permute(x, (0, 1))` and `permute(x, dims=(0, 1))` are one call; with `rest` names go another way."""
    for p in operator.params:
        if p.role == "ints":
            given = f"{p.name}_"  # NumPy's integers have a numerator, and tensors of one no dimension
            number = f"type({given}[0]) is int or hasattr({given}[0], 'numerator')"
            number += f" or not getattr({given}[0], 'ndim', 1)" * (p.name != "tensors")
            sequence = f"{given}[0] if len({given}) == 1 and not ({number})"
            if rest:
                yield f"    {p.name} = {sequence} else {given}"
                continue
            needed = p.default is inspect.Parameter.empty and p.name not in numpy_names(operator).values()
            absent = f" or absent({operator.name!r}, {p.name!r})" if needed else ""
            yield f"    if {p.name} is None:"
            yield f"        {p.name} = {sequence} else {given}{absent}"


def _normalise_values(operator: Operator, params: Iterable[Param]) -> Iterator[str]:
    """`dtype=float` is `dtype=tenfold.float64`, and NumPy's integers are Python's; the rest is refused."""
    for p in params:
        if p.role == "value" and (p.name == "dtype" or p.whole):
            kind, *optional = p.whole.split(" | ")
            tests = [f"{p.name} is not None"] if optional or kind in ("", "dims") else []
            exactly = {"": ["DTYPE"], "bool": ["bool"], "float": ["float", "int"], "complex": ["float", "int"]}.get(kind, ["int"])
            exactly += ["tuple"] * (kind == "dims" and p.name == "dim")
            yield f"    if {' and '.join(tests + [f'type({p.name}) is not {t}' for t in exactly])}:"
            yield f"        {p.name} = as_{kind or 'dtype'}({p.name}, {operator.name!r}, {p.name!r})"


def _by_name(operator: Operator) -> str:
    names = [p.name for p in operator.params] + (["out"] if takes_out(operator) else [])
    return ", ".join(f"{n!r}: {n}" for n in names)


def _full_dispatch(operator: Operator) -> str:
    """The call of `dispatch` with the arguments as (positional, keyword)."""
    rest = bool(numpy_names(operator))
    by_keyword = [p.keyword_only or "ints" in [q.role for q in operator.params[:i]] for i, p in enumerate(operator.params)]
    keyword = [p.name for p, k in zip(operator.params, by_keyword) if k and not (rest and in_rest(operator, p))]
    keyword += ["out"] if takes_out(operator) and not rest else []
    positional = "".join(_passed(p, rest) + ", " for p, k in zip(operator.params, by_keyword) if not k)
    named = ", ".join(["**rest_"] * rest + [f"{n!r}: {n}" for n in keyword])
    return f"dispatch(OP_{operator.name}, ({positional}), {{{named}}})"


def _passed(p: Param, rest: bool = False) -> str:
    if rest and p.role == "ints":  # which may be among what is passed by name
        return f"*{p.name}_"
    return "*" + p.name if p.role == "args" else p.name


def _uncommon(operator: Operator) -> str:
    """The test for arguments that the short path does not handle."""
    tests = ["ACTIVE", "TRANSFORMS"] if operator.random else ["ACTIVE"]
    rest = bool(numpy_names(operator))
    by_name = {p.name: p for p in operator.params}
    for name, neutral in operator.neutral.items():
        if rest and in_rest(operator, by_name[name]):
            continue
        same = "ONE" if type(neutral) is int else repr(neutral)
        tests.append(f"{name} is not {same}" if operator.takes_only(name, neutral) else f"{name} != {neutral!r}")
    late = [name for name in renamed_and_after(operator) if by_name[name].role == "value"]
    tests += [f"{name} is REQUIRED" for name in dict.fromkeys((*late[:1], *late[-1:]))]
    if rest:
        tests += ["rest_", *(f"not {p.name}_" for p in operator.params if p.role == "ints")]
    elif takes_out(operator):
        tests.append("out is not None")
    return " or ".join(tests)


def _call_arguments(operator: Operator) -> str:
    """The arguments of the kernel: arrays for tensors, values for the rest."""
    return ", ".join(f"a_{p.name}" if p.role in TENSOR_ROLES else p.name for p in operator.kernel_params)


def _records(operator: Operator) -> bool:
    """Whether calls may need a graph node."""
    return not operator.nondifferentiable


def _needs_gradient(operator: Operator) -> str:
    """The test for recording; empty when the operator has no gradient."""
    if not _records(operator):
        return ""
    nodes = " or ".join(f"n_{p.name} is not None" for p in tensor_params(operator))
    return f"({nodes}) and (not GRAD_OFF or grad_enabled())" if nodes else ""


def _run_and_wrap(operator: Operator, body_call: str = "") -> list[str]:
    """Lines that call the kernel and return the wrapped result."""
    name = operator.name
    given = ", ".join(p.name for p in operator.kernel_params)
    lines = [
        "    try:",
        f"        r_ = kernel_({_call_arguments(operator)})",
        "    except Exception as error_:",
        f"        r_ = recovered(OP_{name}, key_, kernel_, [{_call_arguments(operator)}], [{given}], error_)",
    ]
    if body_call:
        lines += ["    if r_ is NotImplemented:", f"        return {body_call}"]
    if operator.moves:
        lines.append("    r_, key_ = r_")
    record = _needs_gradient(operator)
    if operator.outputs != 1:
        if operator.view:
            first = operator.kernel_params[0].name
            wrapped = f"wrap_views(r_, key_, {first})"
        else:
            wrapped = "wrap_all(r_, key_)"
        lines += ["    try:", f"        t_ = {wrapped}", *_refuse_result(name)]
        if record:
            lines += [f"    if {record}:", f"        attach_{name}(t_, {given})"]
        return [*lines, "    return t_"]
    lines += [
        "    if type(r_) is not key_.array_type:",
        "        try:",
        "            r_ = key_.coerce(r_)",
        *["    " + line for line in _refuse_result(name)],
        "    t_ = new(Tensor)",
        "    t_._array = r_",
        "    t_._key = key_",
    ]
    if operator.view:
        first = operator.kernel_params[0].name
        lines += [
            "    t_._node = None",
            f"    s_ = {first}._storage",
            "    if s_ is None:",
            f"        s_ = {first}._storage = Storage({first}._array, key_)",
            "    t_._storage = s_",
        ]
        if operator.view == "repeating":
            lines.append("    s_.guarded = True")
        if operator.ends_graph == "always":  # the same memory, but in-place writes to it are not the base's affair
            lines.append("    t_._base = None")
        else:
            lines += [
                f"    b_ = {first}._base",
                f"    t_._base = {first} if b_ is None else b_",
                *([f"    if n_{first} is not None:", "        s_.views[id(t_)] = ref(t_)", "    else:"] if record else []),
                "    " * (2 if record else 1) + "s_.unlisted = True",
                "    if s_.noting or GRAD_OFF:",
                f"        note_view(t_, {first})",
            ]
    else:
        lines += ["    t_._storage = t_._base = None", *arranged(operator), "    if INFERENCE:", "        settle(t_)"]
    if record:
        lines += [f"    if {record}:", f"        attach_{name}(t_, {given})", "        return t_"]
    return [*lines, *([] if operator.view else ["    t_._node = None"]), "    return t_"]


def _refuse_result(name: str) -> list[str]:
    return ["    except TypeError as error_:", f"        raise wrong_result(OP_{name}, key_, r_, error_) from None"]


def _primitive(operator: Operator, slow: str = "") -> list[str]:
    if not tensor_params(operator):
        return [f"    return {_full_dispatch(operator)}"]
    lines = [f"    if {'ACTIVE' if slow else _uncommon(operator)}:"]
    slow = slow or _full_dispatch(operator)
    lines += [f"        return {slow}"]
    lines += ["    try:", *Reading(operator, operator.name, _records(operator)).lines, _EXCEPT, "        slow_ = True"]
    lines += ["    if slow_:", f"        return {slow}"]
    return lines + _run_and_wrap(operator)


def _composite(operator: Operator, slow: str = "") -> list[str]:
    lines = []
    rest = bool(numpy_names(operator))
    given = [p for p in operator.params if not p.keyword_only or not (slow or (rest and in_rest(operator, p)))]
    passed = [_passed(p) if not p.keyword_only else f"{p.name}={p.name}" for p in given]
    body = f"BODY_{operator.name}({', '.join(passed)})"
    lines += [f"    if {'ACTIVE' if slow else _uncommon(operator)}:"]
    slow = slow or _full_dispatch(operator)
    lines += [f"        return {slow}"]
    if not tensor_params(operator):
        return [*lines, f"    return {body}"]
    lines += ["    try:", *Reading(operator, operator.name, _records(operator)).lines, _EXCEPT, "        slow_ = True"]
    lines += ["    if slow_:", f"        return {slow}"]
    lines += ["    if kernel_ is None:", f"        return {body}"]
    record = _needs_gradient(operator)
    if record:
        lines += [f"    if {record} and not has_gradient(OP_{operator.name}):", f"        return {body}"]
    return lines + _run_and_wrap(operator, body)


def _inplace(operator: Operator, slow: str = "") -> list[str]:
    base = operator.inplace_of
    assert base is not None
    lines = [f"    if {'ACTIVE' if slow else _uncommon(operator)}:"]
    if base.in_place is not None and base.body is None and not slow:
        given = ", ".join(p.name for p in base.params)
        RUNTIME["LOWER_" + operator.name] = base.in_place
        # What is recorded keeps the operator's own node.
        nodes = " or ".join(f"getattr({p.name}, '_node', None) is not None" for p in tensor_params(base))
        recorded = f"(not GRAD_OFF or grad_enabled()) and ({nodes})"
        lines += [f"        if not ACTIVE and {base.params[0].name}._key in KERNELS_{operator.name} and not ({recorded}):"]
        lines += [f"            return LOWER_{operator.name}({given})"]
    slow = slow or _full_dispatch(operator)
    lines += [f"        return {slow}"]
    lines += ["    try:", *Reading(base, operator.name, nodes=True).lines, _EXCEPT, "        slow_ = True"]
    nodes = " or ".join(f"n_{p.name} is not None" for p in tensor_params(base))
    lines += [f"    if slow_ or ({nodes}) and (not GRAD_OFF or grad_enabled()):", f"        return {slow}"]
    first = base.kernel_params[0].name
    lines += [
        f"    s_ = {first}._storage",
        f"    if s_ is not None and ({_needs_a_look(base)}):",
        f"        return {slow}",
        "    try:",
        f"        r_ = kernel_({_call_arguments(base)}, out=a_{first})",
        "    except Exception:",  # before it wrote anything: said as the full path says it
        f"        return {slow}",
        "    if r_ is NotImplemented:",
        f"        return {slow}",
        "    if s_ is None:",
        f"        s_ = {first}._storage = Storage(a_{first}, key_)",
        "    s_.version += 1",
        f"    return {first}",
    ]
    return lines


def _needs_a_look(base: Operator) -> str:
    """The test of an in-place call whose target has a storage: it is guarded, or another argument lies in it, too."""
    first, *others = base.kernel_params
    tests = [f"s_.guarded and refused({first.name})"]
    for p in others:
        if p.role not in TENSOR_ROLES or p.role == "list":
            continue
        n = p.name
        is_tensor = {"number": f"a_{n} is not {n} and ", "optional": f"{n} is not None and "}.get(p.role, "")
        itself = f" and {n} is not {first.name}" if base.pointwise else ""  # which elementwise operators may read
        tests.append(f"{is_tensor}{n}._storage is s_{itself}")
    return " or ".join(tests)


def dunder(operator: Operator, fn: Any) -> Any:
    """Give a method the call path of a Python operator: two operands, nothing else, NotImplemented for foreign types."""
    first, second = operator.kernel_params[:2]
    entry = (
        "dispatch_reflected" if fn.__name__.startswith("__r") and operator.name != "bitwise_right_shift" else "dispatch_dunder"
    )
    slow = f"{entry}(OP_{operator.name}, {first.name}, {second.name})"
    with _lock:
        operator.calls.publish()
        make = _inplace if operator.inplace_of is not None else _primitive if operator.body is None else _composite
        text = "\n".join([f"def {fn.__name__}({first.name}, {second.name}):", *make(operator, slow)]) + "\n"
        fn.__code__ = _compiled(fn.__name__, text)[fn.__name__].__code__
    return fn


def subscript(operator: Operator, fn: Any, other: Any) -> Any:
    """Give `__getitem__` the call path of a slice or a whole number; any other index goes to `other(input, index)`."""
    with _lock:
        operator.calls.publish()
        RUNTIME["other_subscript"] = other
        head = [
            "    T_ = type(index)",
            "    if T_ is not slice and T_ is not int:",
            "        return other_subscript(input, index)",
        ]
        text = "\n".join([f"def {fn.__name__}(input, index):", *head, *_primitive(operator)]) + "\n"
        fn.__code__ = _compiled(fn.__name__, text)[fn.__name__].__code__
    return fn


def _compiled(name: str, text: str, **names: Any) -> dict[str, Any]:
    """What the text defines; debuggers and tracebacks show its lines."""
    filename = f"<tenfold {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), RUNTIME, names)  # noqa: S102 - its own text
    return names
