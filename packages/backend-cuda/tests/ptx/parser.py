"""Reads PTX: functions with their parameters, registers, labels and instructions; memory that a module declares.

Source: NVIDIA, "PTX ISA", chapters "Syntax" and "State Spaces, Types, and Variables".
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

# Sizes in bytes of the fundamental types, by the number in their names.
BITS = re.compile(r"\.(?:b|u|s|f)(8|16|32|64|128)\b")
LABEL = re.compile(r"\s*([\w$%]+):(?!:)")
LOC = re.compile(r"\s*\.loc\s+\d+\s+\d+\s+\d+[^/]*(?://\s*(.*))?")
RANGE = re.compile(r"([\w$%]+)<(\d+)>")


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset], and what follows in the brackets: the coordinates of a tensor's block."""

    base: str
    offset: int = 0
    rest: tuple = ()


@dataclass(slots=True)
class Instruction:
    """A statement: operands are names and numbers as text, `Address`, or lists (vectors, and pairs of predicates)."""

    opcode: str
    operands: list
    guard: str | None = None  # the predicate of @p, or
    unless: bool = False  # of @!p
    line: int = 0
    place: str = ""  # the line of Python that it comes from

    @property
    def parts(self):
        return self.opcode.split(".")

    def __str__(self):
        guard = f"@{'!' * self.unless}{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(map(str, self.operands))}"


@dataclass(slots=True)
class Variable:
    """Memory that is declared: its state space, alignment and size in bytes (0: what the launch says), first values."""

    name: str
    space: str
    align: int
    size: int
    values: bytes = b""


@dataclass(slots=True)
class Function:
    name: str
    kernel: bool
    parameters: list[Variable]
    results: list[Variable]
    code: list = field(default_factory=list)  # Instructions and labels (text)
    registers: dict[str, int] = field(default_factory=dict)  # bits; 1: a predicate
    variables: list[Variable] = field(default_factory=list)


@dataclass(slots=True)
class Module:
    target: str
    functions: dict[str, Function]
    variables: list[Variable]

    @property
    def kernel(self):
        return next(f for f in self.functions.values() if f.kernel)


def parse(text: str) -> Module:
    """What a PTX module declares."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        if reader.depth == 0 and line.lstrip().startswith((".file", ".section")):
            break  # what is for debuggers
        reader.line(number, line)
    return Module(reader.target, reader.functions, reader.variables)


class _Reader:
    """Statements may share a line, or go over several ones; `.loc` has a line of its own."""

    def __init__(self):
        self.target, self.functions, self.variables = "", {}, []
        self.depth, self.rest, self.place, self.number = 0, "", "", 0
        self.function, self.scopes = None, []

    def line(self, number, line):
        found = LOC.match(line)
        if found:
            self.place = (found[1] or "").strip()
            return
        if self.depth == 0 and line.startswith((".version", ".target", ".address_size")):
            if line.startswith(".target"):
                self.target = line.split()[1].rstrip(",")
            return
        self.number = number
        self.rest += line.split("//", 1)[0] + " "
        while self.step():
            pass

    def step(self):
        """Take one statement, label or brace from what has been read; whether there was one."""
        self.rest = rest = self.rest.lstrip()
        if not rest:
            return False
        if self.depth and rest[0] == "{":
            self.depth, self.rest = self.depth + 1, rest[1:]
            self.scopes.append({})
            return True
        if rest[0] == "}":
            self.depth, self.rest = self.depth - 1, rest[1:]
            self.scopes.pop()
            return True
        if self.depth and (label := LABEL.match(rest)):
            self.function.code.append(label[1])
            self.rest = rest[label.end() :]
            return True
        end, brace = rest.find(";"), rest.find("{")
        if not self.depth and brace >= 0 and (end < 0 or brace < end) and "=" not in rest[:brace]:
            self.begin(rest[:brace])
            self.rest = rest[brace + 1 :]
            return True
        if end < 0:
            return False
        self.rest = rest[end + 1 :]
        self.statement(rest[:end].strip())
        return True

    def begin(self, header):
        """The head of a function: .entry name(parameters), or .func (results) name (parameters)."""
        kernel = ".entry" in header
        head = header.split(".entry" if kernel else ".func", 1)[1]
        lists = re.findall(r"\(([^()]*)\)", head)
        name = re.sub(r"\([^()]*\)", " ", head).split()[0]
        results = [] if kernel or len(lists) < 2 else _parameters(lists[0])
        self.function = Function(name, kernel, _parameters(lists[-1]) if lists else [], results)
        self.functions[name] = self.function
        self.depth, self.scopes = 1, [{}]

    def statement(self, text):
        if not self.depth:
            if text.startswith((".visible .func", ".func", ".extern .func", ".pragma")):
                return  # declared before it is written
            self.variables.append(_variable(text))
        elif text.startswith(".reg"):
            self.declare(text)
        elif text.startswith((".local", ".shared", ".param")):
            self.function.variables.append(_variable(text))
        elif not text.startswith("."):
            self.function.code.append(self.instruction(text))

    def declare(self, text):
        """.reg .b32 %r<9>, a;  a name of an inner block hides the same one outside of it."""
        kind = text.split()[1]
        bits = 1 if kind == ".pred" else int(BITS.match(kind)[1])
        for name in text.split(None, 2)[2].split(","):
            found = RANGE.search(name)
            names = [f"{found[1]}{i}" for i in range(int(found[2]))] if found else [name.strip()]
            if len(self.scopes) > 1:
                for inner in names:
                    self.scopes[-1][inner] = f"{inner}@{len(self.function.registers)}"
                names = [self.scopes[-1][inner] for inner in names]
            self.function.registers.update(dict.fromkeys(names, bits))

    def name(self, text):
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        return text

    def instruction(self, text):
        guard, unless = None, False
        if text[0] == "@":
            guard, text = text[1:].split(None, 1)
            unless, guard = guard[0] == "!", self.name(guard.lstrip("!"))
        opcode, _, operands = text.partition(" ") if " " in text else text.partition("\t")
        if "\t" in opcode:
            opcode, _, more = opcode.partition("\t")
            operands = f"{more} {operands}"
        return Instruction(opcode, [self.operand(o) for o in _split(operands)], guard, unless, self.number, self.place)

    def operand(self, text):
        text = text.strip()
        if text[0] in "{(":
            return [self.operand(o) for o in _split(text[1:-1])]
        if text[0] == "[":
            first, *rest = _split(text[1:-1])
            base, _, offset = first.partition("+")
            return Address(self.name(base.strip()), int(offset.strip() or "0", 0), tuple(self.operand(o) for o in rest))
        if "|" in text:
            return [self.operand(o) for o in text.split("|")]
        return self.name(text)


def _split(text):
    """The parts between commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        if letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


def _parameters(text):
    return [_variable(part) for part in _split(text)]


def _variable(text):
    """.global .align 4 .b8 name[24] = {1, 2};"""
    declared, _, values = text.partition("=")
    words = declared.split()
    name, _, count = words[-1].partition("[")
    size = int(BITS.search(declared)[1]) // 8
    space = next((s for s in ("shared", "global", "local", "param", "const") if f".{s}" in words[:3]), "param")
    align = int(words[words.index(".align") + 1]) if ".align" in words else size
    total = size * (int(count.rstrip("]") or "0", 0) if count else 1)
    numbers = [int(n, 0) for n in values.strip().strip("{}").split(",")] if values else []
    packed = b"".join(struct.pack("<Q", n & (2**64 - 1))[:size] for n in numbers)
    return Variable(name, space, align, total, packed)
