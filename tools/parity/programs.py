"""Random programs on PyTorch and Tenfold, with what is accepted here: `python tools/parity/programs.py fuzz.py [options]`.

The fuzzer is a judge's file that lies elsewhere: its first argument is where. It runs as it is, with the differences of
accepted_programs.py, told apart by circumstances.py, beside its own; its options follow, such as `--seconds 120 --seed 0`.
With `--device cuda` Tenfold's tensors are on a GPU, or in Triton's interpreter, which is slow.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import accepted_programs as accepted  # type: ignore[import-not-found] # beside this file
import accepted_words  # type: ignore[import-not-found]
import circumstances  # type: ignore[import-not-found]
import on_cuda  # type: ignore[import-not-found]
import reruns  # type: ignore[import-not-found]


def load(path: str) -> Any:
    """The fuzzer as a module that starts its workers from this file, so that they accept the same."""
    spec = importlib.util.spec_from_file_location("judge", path)
    assert spec is not None
    assert spec.loader is not None
    judge: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    judge.__file__ = __file__
    judge.ALLOWED += accepted.ACCEPTED
    judge.FAMILIES += accepted_words.WORDS  # the last that fits counts
    return judge


class _Watched:
    """A source of statements that looks at PyTorch's tensors before each of them runs."""

    def __init__(self, torch: Any, source: Any) -> None:
        self.torch, self.source = torch, source
        self.environment: dict[str, Any] = {}
        self.given: dict[str, Any] = {}  # what the statement finds, before it writes
        self.overlapped = False
        self.strides: set[str] = set()  # the tensors whose strides are not PyTorch's

    def __call__(self, environment: dict[str, Any]) -> _Watched:
        self.environment = environment
        given = self.source
        if callable(given):
            made = given(environment)
            self.r, self.next = made.r, made.statement
        else:  # a list, for the second time
            self.r, self.next = SimpleNamespace(randint=lambda low, high: len(given)), iter(given).__next__
        return self

    def statement(self) -> tuple[str, str, bool]:
        op, text, writes = self.next()
        if reruns.crashes(self.torch, self.environment, text):
            return op, "_ = None", False
        given = circumstances.tensors_of(self.environment, text)
        self.given = {
            n: t.detach().clone() for n in re.findall(r"t\d+(?:_\d)?", text) if (t := self.environment.get(n)) is not None
        }
        self.overlapped = self.overlapped or (bool(writes) and any(map(circumstances.overlaps, given)))
        return op, text, writes

    def name(self, op: str, what: str, before: list[str], details: list[Any]) -> str:
        """A difference under the name that accepted_programs.py knows."""
        if self.overlapped and re.match(r"(grad )?value", what):
            return f"{what} [memory that overlaps itself was written]"
        if what.startswith("stride"):
            return self._of_strides(what, before[-1])
        found = circumstances.circumstance(
            self.torch, self.environment, before, op, what.removesuffix(" (other tensor)"), details
        )
        if found == "half" and not re.search("backward|grad", op):
            found *= reruns.rounds_as_well(self.torch, self.given, before[-1], *details)
        if not found and what == "value-nonfinite" and re.search(r"matmul\(|linear\(| @ ", before[-1]):
            found = "terms beyond float32" * reruns.sums_overflow(self.torch, self.given, before[-1], *details)
        if found == "two mistakes":
            return "error: two mistakes"
        return f"{what} [{found}]" if found else what

    def _of_strides(self, what: str, text: str) -> str:
        """Note a tensor whose strides differ, and whether an argument's did."""
        names = re.findall(r"t\d+(?:_\d)?", text)
        shapes = {t.shape for t in circumstances.tensors_of(self.environment, text.split(" = ", 1)[-1])}
        follows = any(name in self.strides for name in (names[1:] if " = " in text else names))
        self.strides |= {names[0], *(f"{names[0]}_{i}" for i in range(4))} if names else set()
        found = "of an argument" if follows else "of broadcast arguments" if len(shapes) > 1 else ""
        return f"{what} [{found}]" if found and what == "stride" else what


def watched(judge: Any) -> Any:
    """The fuzzer's comparison of one program, whose findings tell under which circumstance they were made."""
    compare = judge.run

    def run(both: Any, source: Any, keep_going: bool, found: Any) -> Any:
        statements = _Watched(both.torch, source)

        def told(op: str, what: str, k: int, lines: list[Any], details: list[Any]) -> None:
            before = [text for _, text, _ in lines[: k + 1]]
            found(op, statements.name(op, what, before, details), k, lines, details)

        return compare(both, statements, keep_going, told)

    return run


def main() -> int:
    """Run the fuzzer that is named first, or by the environment where a worker is started."""
    arguments = sys.argv[1:]
    if arguments and arguments[0].endswith(".py"):
        os.environ["TENFOLD_FUZZER"] = str(Path(arguments.pop(0)).resolve())
    if "--device" in arguments:
        at = arguments.index("--device")
        os.environ["TENFOLD_FUZZER_DEVICE"] = arguments[at + 1]  # for the workers, too
        del arguments[at : at + 2]
    if "TENFOLD_FUZZER" not in os.environ:
        print(__doc__)
        return 2
    judge = load(os.environ["TENFOLD_FUZZER"])
    if "--worker" in arguments:  # what PyTorch imports late takes longer than the fuzzer's limit for a program, on a busy machine
        importlib.import_module("torch.fx.experimental.symbolic_shapes")
    judge.run = watched(judge)
    if os.environ.get("TENFOLD_FUZZER_DEVICE", "cpu") == "cuda":
        on_cuda.start()
        on_cuda.with_device(judge)
    sys.argv[1:] = arguments
    return int(judge.main() or 0)


if __name__ == "__main__":
    sys.exit(main())
