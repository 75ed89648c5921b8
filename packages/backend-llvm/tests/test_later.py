"""Native functions in modules that the first call compiles, and loops beside vectors that are written out."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys

import pytest

import tenfold
from tenfold.llvm import call_paths, compiler
from tenfold.llvm.loops import ATTRIBUTES, with_loops
from tenfold.llvm.native import functions, later
from tenfold.llvm.session import session

REASON = "call paths are native from Python 3.12 on, where nobody has said no"
native = pytest.mark.skipif(not call_paths.possible(), reason=REASON)
CALLS = {
    "along": "x.argmax(1)",
    "scatter_path": "x.scatter(1, tenfold.zeros(2, 3, dtype=tenfold.int64), x)",
    "equal_path": "tenfold.equal(x, x)",
    "draw_path": "tenfold.randn(2)",
}
PROGRAM = """
import tenfold
from tenfold.llvm.session import session
x = tenfold.tensor([[1.0, 3.0, 2.0], [4.0, 0.0, 5.0]])
x + x
cell = session().native.cell("later_{name}")
before = cell.value
{breaking}
found = [({call}) for _ in range(2)]
print(before, cell.value != 0, found)
"""
BREAKING = "session().native.point('{part}', lambda: 1 / 0)"


def run(name: str, breaking: str = "") -> str:
    """What such a program prints."""
    code = PROGRAM.format(name=name, call=CALLS[name], breaking=breaking)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    return done.stdout


def test_each_function_has_a_call():
    assert set(CALLS) == {name for _, names in later.PARTS.values() for name in names}


@native
@pytest.mark.parametrize("name", CALLS)
def test_a_module_is_compiled_by_the_first_call(name):
    assert run(name).startswith("0 True")


@native
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"draw_path"}))
def test_where_a_module_cannot_be_compiled_the_function_goes_its_ordinary_way(name):
    part = next(part for part, (_, names) in later.PARTS.items() if name in names)
    whole, without = run(name), run(name, BREAKING.format(part=part))
    assert without == whole.replace("True", "False", 1)


@pytest.mark.parametrize("part", list(later.PARTS) if call_paths.possible() else ["m_along"])
def test_what_a_module_borrows_is_there_for_others(part):
    tenfold.ones(2) + 1
    code = session().native.code
    text = later.source(part, functions.source())
    own = re.findall(r"^define [^@\n]*@(\w+)", functions.source(), re.MULTILINE)
    borrowed = [name for name in re.findall(r"^declare [^@\n]*@(\w+)", text, re.MULTILINE) if name in own]
    assert borrowed
    assert all(code.address(name) for name in borrowed)


@native
def test_a_function_that_is_not_there_for_others_is_refused():
    text = functions.source().replace("define i64 @elements(", "define internal i64 @elements(")
    with pytest.raises(RuntimeError, match="other modules call is internal"):
        later.source("m_places", text)


def test_loops_are_made_vectors_of_beside_what_is_not():
    loop = f"""
define void @doubled(ptr %p, i64 %n) {ATTRIBUTES} {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %at = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %at, align 4, !llvm.access.group !0
  %y = fadd float %x, %x
  store float %y, ptr %at, align 4, !llvm.access.group !0
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !1
done:
  ret void
}}
"""
    kernel = "define void @kernel(ptr %p, i64 %n) {\n  call void @doubled(ptr %p, i64 %n)\n  ret void\n}\n"
    text = with_loops(kernel, loop)
    shown = str(compiler.optimised(text, compiler.FEW))
    assert re.search(r"fadd <\d+ x float>", shown)
    assert "define internal void @doubled" in shown
    numbers = (ctypes.c_float * 37)(*range(37))
    run_it = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(compiler.load(text, compiler.FEW).address("kernel"))
    run_it(ctypes.addressof(numbers), 37)
    assert list(numbers) == [2.0 * k for k in range(37)]
