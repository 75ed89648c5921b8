"""Makes, for each operator, the class of its graph node and the function that attaches one to a result.

As with call paths, the code is generated once per operator from its signature and gradient rule, so that recording
stores exactly what the rules name and interprets nothing.
"""

from __future__ import annotations

import inspect
import linecache
import re
from typing import Any

from tenfold.autograd.gradients import GradientRule, find
from tenfold.autograd.layout import layout_of
from tenfold.autograd.missing import without_gradient
from tenfold.autograd.node_names import node_label
from tenfold.autograd.nodes import NUMBERS, RELEASED, Node, Output
from tenfold.autograd.rules.passing import elsewhere
from tenfold.autograd.watch import WATCH
from tenfold.dispatch import runtime
from tenfold.dispatch.beneath import BeneathKey
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import TENSOR_ROLES, Operator, Param
from tenfold.ops.creation.factories import zeros
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import FROM_NUMPY, dtype

new = object.__new__

# Which results an operator declares to end the graph (`ends_graph=`), as a test.
_ENDING = {"integers": "result._array.dtype.kind in 'iub'", "reinterpreted": "type({1}) is dtype"}


def make_attach(operator: Operator) -> Any:
    """The function `attach(result, *arguments)` that gives a result its node."""
    rule = find(operator)
    if rule is None:
        return without_gradient(operator)
    source = _Source(operator, rule)
    text, namespace = source.build()
    filename = f"<tenfold gradient of {operator.name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102 - its own text
    made = namespace[rule.node_name]
    made.show_fields()
    label = rule.label or node_label(operator.name)
    if label is not None:
        made.label = staticmethod(label)
    namespace["attach"].source, namespace["attach"].layout = text, layout_of(source, made)
    return namespace["attach"]


# Called from generated code


def second_time(node: Node) -> RuntimeError:
    return RuntimeError(
        f"{type(node).__name__}: Trying to backward through the graph a second time (or directly access saved tensors after "
        f"they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        f"autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        f"need to access saved tensors after calling backward."
    )


def modified(node: Node, name: str, tensor: Any, saved: int) -> RuntimeError:
    now = tensor._version
    if hasattr(tensor._storage, "detached"):
        return RuntimeError(
            f"Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(): {name!r} of "
            f"{type(node).__name__}. This is not supported, please use out-of-place `.detach()` instead"
        )
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor.dtype} {list(tensor.shape)}], which is {name!r} of {type(node).__name__}, is at version {now}; "
        f"expected version {saved} instead. Hint: use the out-of-place form of the operation that wrote it."
    )


def alias(tensor: Any) -> Any:
    """The same value without its node, so that a node that saves its own result makes no cycle."""
    copy: Any
    if type(tensor._key) is BeneathKey:  # what it wraps only its class knows
        copy = tensor.detach()
        copy._storage = tensor.untyped_storage()  # whose version is asked
        return copy
    copy = new(type(tensor))
    copy._array, copy._key, copy._node, copy._base = tensor._array, tensor._key, None, None
    storage = tensor._storage
    if storage is None:
        storage = tensor._storage = Storage(tensor._array, tensor._key)
    copy._storage = storage
    return copy


def restore(saved: Any, node: Node) -> Any:
    """A saved result, in its place of the graph when the backward pass itself is recorded."""
    if not runtime.STATE.grad_enabled:
        return saved
    copy = alias(saved)
    copy._node = node
    return copy


def restore_output(saved: Any, node: Any, index: int) -> Any:
    """The same for one of several results."""
    described = node._shape[index]
    if described is None or not runtime.STATE.grad_enabled:
        return saved
    copy = alias(saved)
    copy._node = Output(node, index, described[0])
    return copy


def attach_outputs(node: Any, results: Any, differentiable: tuple[int, ...] | None) -> None:
    """Nodes of the several results of one operation; integer results and those that are no results to users have none."""
    described: list[Any] = []
    for i, t in enumerate(results):
        array = t._array
        if (differentiable is None or i in differentiable) and array.dtype.kind in "fcV":
            shape = array.shape
            t._node = Output(node, i, shape)
            described.append((shape, FROM_NUMPY[array.dtype], t._key.device))
        else:
            t._node = None
            described.append(None)
    node._shape = tuple(described)


def filled(node: Any, gs: Any) -> Any:
    """The gradients of several results, zeros for those that got none (None for results without a gradient)."""
    for i, described in enumerate(node._shape):
        if described is not None and gs[i] is None:
            shape, dtype, device = described
            gs = [*gs[:i], zeros(shape, dtype=dtype, device=device), *gs[i + 1 :]]
    return gs


_IDENTITY = (lambda g: g).__code__.co_code


def _is_identity(rule: Any) -> bool:
    """Whether a rule is `lambda g: g`, which the generated code need not call."""
    code = getattr(rule, "__code__", None)
    return code is not None and code.co_code == _IDENTITY and code.co_argcount == 1


def _storage_of(name: str) -> str:
    """The text of the storage of what may be a tensor or a number; numbers have none."""
    return f"{name}._storage if type({name}) is Tensor else getattr({name}, '_storage', None)"


class _Source:
    """The text of one operator's node class and attach function."""

    def __init__(self, operator: Operator, rule: GradientRule) -> None:
        self.operator, self.rule = operator, rule
        self.params = {p.name: p for p in operator.kernel_params}
        self.diff = [self.params[name] for name in rule.rules]
        self.multiple = operator.outputs != 1
        functions = {"joint": rule.joint} if rule.joint else rule.rules
        self.needs = {name: list(inspect.signature(f).parameters) for name, f in functions.items()}
        self.namespace: dict[str, Any] = {
            "new": new, "Node": Node, "RELEASED": RELEASED, "Tensor": Tensor, "second_time": second_time,
            "modified": modified, "alias": alias, "restore": restore, "restore_output": restore_output,
            "attach_outputs": attach_outputs, "filled": filled, "WATCH": WATCH, "NUMBERS": NUMBERS, "dtype": dtype,
            "__name__": "tenfold.dispatch.operators", **{f"rule_{n}": f for n, f in functions.items()},
            "together": rule.together, "CPU": CPU, "elsewhere": elsewhere,
        }  # fmt: skip

    def saved_names(self) -> list[str]:
        """What rules name, each once, in a stable order."""
        names: list[str] = []
        for needed in self.needs.values():
            names += [n for n in needed if n not in ("g", "needs") and n not in names]
        return names

    def users(self, name: str) -> list[str]:
        """The differentiable parameters whose rule needs `name`; empty when any may."""
        if self.rule.joint:
            return []
        return [p for p, needed in self.needs.items() if name in needed]

    def build(self) -> tuple[str, dict[str, Any]]:
        saved = self.saved_names()
        slots = [s for n in saved for s in self._slots(n)]
        lines = [f"class {self.rule.node_name}(Node):", f"    __slots__ = {tuple(slots)!r}", f"    fields = {tuple(saved)!r}",
                 f"    tensors = {tuple(n for n in saved if self.is_tensor(n))!r}"]  # fmt: skip
        if self.multiple:
            lines.append("    is_multiple = True")
        if not any(self.is_tensor(n) for n in saved):
            lines.append("    keeps = False")
        lines += ["", *self._apply(saved), "", *self._release(saved), "", *self._attach(saved)]
        return "\n".join(lines) + "\n", self.namespace

    def is_tensor(self, name: str) -> bool:
        return re.fullmatch(r"out\d*", name) is not None or (name in self.params and self.params[name].role in TENSOR_ROLES)

    def _is_single(self, name: str) -> bool:
        """Tensors whose version is checked inline: a parameter that always is one tensor."""
        return name in self.params and self.params[name].role == "tensor"

    def _slots(self, name: str) -> list[str]:
        return [f"s_{name}", f"v_{name}"] if self.is_tensor(name) else [f"s_{name}"]

    def _attach(self, saved: list[str]) -> list[str]:
        given = ", ".join(self.params)
        lines = [f"def attach(result, {given}):", f"    node = {self.rule.node_name}()"]
        if self.operator.ends_graph:
            ending = _ENDING[self.operator.ends_graph].format(*self.params)
            unshared = " = result._base" if self.operator.view else ""  # writes to it are not its source's affair
            lines = [lines[0], f"    if {ending}:", f"        result._node{unshared} = None", "        return", lines[1]]
        if self.operator.view:  # views of inference mode's memory stay outside the graph, whatever asks for gradients there
            source = self.operator.kernel_params[0].name
            views = "result" if self.multiple else "(result,)"
            lines[1:1] = [f"    if {source}._storage is not None and {source}._storage.inference:",
                          f"        for view in {views}:", "            view._node = view._base = None",
                          "        return"]  # fmt: skip
        edges = []
        for p in self.diff:
            if p.role == "list":
                lines.append(f"    n_{p.name} = [None if x is None else x._node for x in {p.name}]")
                edges.append(f"*n_{p.name}")
            else:
                lines.append(f"    n_{p.name} = {self._node_of(p)}")
                edges.append(f"n_{p.name}")
        lines.append(f"    node._next = ({', '.join(edges)},)")
        lines += ["    node._extra = None", "    for node._number in NUMBERS:  # a quarter faster than next()", "        break"]
        for name in saved:
            lines += self._save(name)
        if self.multiple:
            lines.append(f"    attach_outputs(node, result, {self.rule.results!r})")
        else:
            lines += ["    node._shape = result._array.shape", "    result._node = node"]
        return [*lines, "    if WATCH.active:", "        WATCH.recorded(node)"]

    def _node_of(self, p: Param) -> str:
        if p.role == "tensor":
            return f"{p.name}._node"
        return f"{p.name}._node if type({p.name}) is Tensor else getattr({p.name}, '_node', None)"

    def _save(self, name: str) -> list[str]:
        match = re.fullmatch(r"(.*)_(shape|dtype|geometry)", name)
        if match and name not in self.params:
            source = match[1]
            if match[2] == "geometry":
                return [f"    node.s_{name} = ({source}.shape, {source}.stride(), {source}.storage_offset())"]
            kind = f"{source}._array.shape" if match[2] == "shape" else f"{source}.dtype"
            p = self.params[source]
            if p.role in ("number", "optional"):
                kind = f"({kind} if hasattr({source}, '_array') else ())"
            if p.role == "list":
                kind = f"[x._array.shape for x in {source}]" if match[2] == "shape" else f"[x.dtype for x in {source}]"
            return [f"    node.s_{name} = {kind}"]
        if re.fullmatch(r"out\d*", name):
            source = f"result[{name[3:]}]" if name != "out" else "result"
            if name == "out" and self.multiple:
                return ["    node.s_out = [alias(x) for x in result]", "    node.v_out = [x._version for x in result]"]
            store = [f"node.s_{name} = alias({source})", f"node.v_{name} = {source}._storage.version"]
            return self._if_used(name, store)
        if not self.is_tensor(name):
            return [f"    node.s_{name} = {name}"]
        if self._is_single(name):
            store = [f"node.s_{name} = {name}", f"s = {name}._storage", f"node.v_{name} = 0 if s is None else s.version"]
        elif self.params[name].role == "list":
            store = [f"node.s_{name} = list({name})", f"node.v_{name} = [0 if x is None else x._version for x in {name}]"]
        else:
            store = [f"node.s_{name} = {name}", f"s = {_storage_of(name)}", f"node.v_{name} = 0 if s is None else s.version"]
        return self._if_used(name, store)

    def _if_used(self, name: str, store: list[str]) -> list[str]:
        """Lines that save something only where a wanted gradient's rule names it."""
        users = self.users(name)
        condition = " or ".join(f"n_{u} is not None" for u in users if self.params[u].role != "list")
        if not condition or len(users) == len(self.diff):
            return [f"    {line}" for line in store]
        return [f"    if {condition}:", *(f"        {line}" for line in store), "    else:", f"        node.s_{name} = None"]

    def _apply(self, saved: list[str]) -> list[str]:
        lines = ["    def apply(self, g, wanted):"]
        if self.multiple:
            lines.append("        g = filled(self, g)")
        for name in saved:
            lines += self._load(name)
        if self.rule.joint:
            names = ", ".join({"g": "g", "needs": "[n is not None for n in wanted]"}.get(n, n) for n in self.needs["joint"])
            return [*lines, f"        return rule_joint({names})"]
        listed = [p for p in self.diff if p.role == "list"]
        if listed:
            assert len(self.diff) == 1, "a list parameter is differentiated alone, or by a joint rule"
            call = ", ".join(self.needs[self.diff[0].name])
            return [*lines, f"        return rule_{self.diff[0].name}({call})"]
        if self.operator.family in ("pointwise", "reduction") and not self.multiple:
            kept = ", ".join(
                [f"{self.operator.name!r}, {tuple(p.name for p in self.diff)}, g, wanted", *[f"{n}={n}" for n in saved]]
            )
            lines += ["        if g._key is not CPU:", f"            found = elsewhere({kept})",
                      "            if found is not None:", "                return found"]  # fmt: skip
        if self.rule.together:
            names = ", ".join(inspect.signature(self.rule.together).parameters)
            lines += ["        if None not in wanted:", f"            return together({names})"]
        results = []
        for position, p in enumerate(self.diff):
            call = f"rule_{p.name}({', '.join(self.needs[p.name])})"
            call = "g" if _is_identity(self.rule.rules[p.name]) else call
            results.append(f"None if wanted[{position}] is None else {call}")
        return [*lines, f"        return ({', '.join(results)},)"]

    def _load(self, name: str) -> list[str]:
        lines = [f"        {name} = self.s_{name}"]
        if not self.is_tensor(name):
            return lines
        lines += [f"        if {name} is RELEASED:", "            raise second_time(self)"]
        if re.fullmatch(r"out\d*", name):
            if name == "out" and self.multiple:
                return [*lines, "        out = [x if x.dtype.category < 2 else x for x in out]"]
            restored = f"restore({name}, self)" if name == "out" else f"restore_output({name}, self, {name[3:]})"
            checked = [
                f"        if {name}._storage.version != self.v_{name}:",
                f"            raise modified(self, {name!r}, {name}, self.v_{name})",
                f"        {name} = {restored}",
            ]
            users = self.users(name)
            if users and len(users) != len(self.diff):
                return [*lines, f"        if {name} is not None:", *("    " + line for line in checked)]
            return [*lines, *checked]
        if self._is_single(name):
            users = self.users(name)
            guard = f"{name} is not None and " if users and len(users) != len(self.diff) else ""
            return [
                *lines,
                f"        if {guard}(0 if {name}._storage is None else {name}._storage.version) != self.v_{name}:",
                f"            raise modified(self, {name!r}, {name}, self.v_{name})",
            ]
        if self.params[name].role == "list":
            return [
                *lines,
                f"        for x, v in zip({name}, self.v_{name}):",
                "            if x is not None and x._version != v:",
                f"                raise modified(self, {name!r}, x, v)",
            ]
        return [
            *lines,
            f"        if {name} is not None:",
            f"            s = {_storage_of(name)}",
            f"            if (0 if s is None else s.version) != self.v_{name}:",
            f"                raise modified(self, {name!r}, {name}, self.v_{name})",
        ]

    def _release(self, saved: list[str]) -> list[str]:
        tensors = [n for n in saved if self.is_tensor(n)]
        if not tensors:
            return []
        lines = ["    def release(self):"]
        for name in tensors:
            if name in self.params and self.params[name].role == "number":  # a number is no memory to give back
                held = f"self.s_{name}"
                lines += [f"        if type({held}) is Tensor or hasattr({held}, '_array'):", f"            {held} = RELEASED"]
            elif self._always_saved(name):
                lines.append(f"        self.s_{name} = RELEASED")
            else:  # what no wanted gradient needs was not saved, and a second pass does without it
                lines += [f"        if self.s_{name} is not None:", f"            self.s_{name} = RELEASED"]
        return lines

    def _always_saved(self, name: str) -> bool:
        users = self.users(name)
        return not users or len(users) == len(self.diff)
