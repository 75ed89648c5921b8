"""The loops of native/comparing.ll and native/scattering.ll: whether numbers are equal, and numbers written or added at places.

Equal places of a dimension are taken in the order in which they come. A count is of columns: the dimension at one place of all
others. Words of the context: 0 the target, 1 the places, 2 what is written, 3 the dimension's size, 4 how many places a column
has, 5 how many numbers lie between neighbours, 6 whether what is written has an element for each place (1) or one for all (0).
"""

from __future__ import annotations

ADDED = {"float": "fadd", "double": "fadd", "i64": "add"}
SET = {"set4": "i32", "set8": "i64"}
COMPARED = {"float": "fcmp une", "double": "fcmp une", "i64": "icmp ne"}
NAMES = (
    "places_fit", *(f"equal_{name}" for name in COMPARED),
    *(f"scatter_{name}" for name in SET), *(f"scatter_add_{name}" for name in ADDED),
    *(f"slices_add_{name}" for name in ADDED),
)  # fmt: skip

_DECLARED = "declare i64 @llvm.smin.i64(i64, i64)"
_FIT = """
; Whether all places are from 0 to less than the size.
define i1 @places_fit(ptr %places, i64 %count, i64 %size) nounwind {
entry:
  br label %each
each:
  %i = phi i64 [0, %entry], [%inext, %each]
  %bad = phi i64 [0, %entry], [%bad_next, %each]
  %p = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %p
  %outside = icmp uge i64 %place, %size
  %one = zext i1 %outside to i64
  %bad_next = or i64 %bad, %one
  %inext = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %inext, %count
  br i1 %more, label %each, label %done
done:
  %fit = icmp eq i64 %bad_next, 0
  ret i1 %fit
}
"""

_EQUAL = """
; Whether all numbers of two arrays are the same; a block at a time, so that it ends soon where they are not.
define i1 @equal_TYPE(ptr %x, ptr %y, i64 %count) nounwind {
entry:
  br label %block
block:
  %from = phi i64 [0, %entry], [%to, %alike]
  %over = icmp sge i64 %from, %count
  br i1 %over, label %yes, label %begin
begin:
  %next = add i64 %from, 4096
  %to = call i64 @llvm.smin.i64(i64 %next, i64 %count)
  br label %each
each:
  %i = phi i64 [%from, %begin], [%inext, %each]
  %other = phi i64 [0, %begin], [%other_next, %each]
  %p = getelementptr TYPE, ptr %x, i64 %i
  %q = getelementptr TYPE, ptr %y, i64 %i
  %a = load TYPE, ptr %p
  %b = load TYPE, ptr %q
  %differ = COMPARE TYPE %a, %b
  %one = zext i1 %differ to i64
  %other_next = or i64 %other, %one
  %inext = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %inext, %to
  br i1 %more, label %each, label %told
told:
  %same = icmp eq i64 %other_next, 0
  br i1 %same, label %alike, label %no
alike:
  br label %block
yes:
  ret i1 true
no:
  ret i1 false
}
"""

_LOOP = """
define void @NAME(ptr %context, i64 %begin, i64 %end) nounwind {
entry:
  %target = load ptr, ptr %context
  %c1 = getelementptr ptr, ptr %context, i64 1
  %places = load ptr, ptr %c1
  %c2 = getelementptr ptr, ptr %context, i64 2
  %source = load ptr, ptr %c2
  %c3 = getelementptr i64, ptr %context, i64 3
  %size = load i64, ptr %c3
  %c4 = getelementptr i64, ptr %context, i64 4
  %many = load i64, ptr %c4
  %c5 = getelementptr i64, ptr %context, i64 5
  %inner = load i64, ptr %c5
  %c6 = getelementptr i64, ptr %context, i64 6
  %step = load i64, ptr %c6
  br label %outer
outer:  ; the columns of one part that lie beside one another
  %c = phi i64 [%begin, %entry], [%stop, %after]
  %over = icmp sge i64 %c, %end
  br i1 %over, label %done, label %part
part:
  %o = udiv i64 %c, %inner
  %before = mul i64 %o, %inner
  %first = sub i64 %c, %before
  %room = sub i64 %inner, %first
  %left = sub i64 %end, %c
  %n = call i64 @llvm.smin.i64(i64 %room, i64 %left)
  %stop = add i64 %c, %n
  %last = add i64 %first, %n
  %o_target = mul i64 %before, %size
  %o_source = mul i64 %before, %many
  %thin = icmp eq i64 %inner, 1
  br i1 %thin, label %along, label %rows
along:  ; neighbours along the dimension itself
  %a = phi i64 [0, %part], [%anext, %along]
  THIN
  %anext = add nuw nsw i64 %a, 1
  %a_more = icmp slt i64 %anext, %many
  br i1 %a_more, label %along, label %after
rows:
  br label %row
row:
  %k = phi i64 [0, %rows], [%knext, %row_done]
  %k_offset = mul i64 %k, %inner
  %row_source = add i64 %o_source, %k_offset
  ROW
  br label %each
each:
  %i = phi i64 [%first, %row], [%inext, %each]
  %at = add i64 %row_source, %i
  EACH
  %inext = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %inext, %last
  br i1 %more, label %each, label %row_done
row_done:
  %knext = add nuw nsw i64 %k, 1
  %rows_left = icmp slt i64 %knext, %many
  br i1 %rows_left, label %row, label %after
after:
  br label %outer
done:
  ret void
}
"""

_OWN_PLACE = """%p = getelementptr i64, ptr %places, i64 %at
  %place = load i64, ptr %p
  %place_offset = mul i64 %place, %inner
  %t0 = add i64 %o_target, %place_offset
  %s_at = mul i64 %at, %step
  %s = getelementptr TYPE, ptr %source, i64 %s_at
"""
_ROW_PLACE = """%p = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %p
  %place_offset = mul i64 %place, %inner
  %t0 = add i64 %o_target, %place_offset
"""
_STORE = """  %value = load TYPE, ptr %s
  %t_at = add i64 %t0, %i
  %t = getelementptr TYPE, ptr %target, i64 %t_at
  store TYPE %value, ptr %t
"""
_ADD = """  %value = load TYPE, ptr %s
  %t_at = add i64 %t0, %i
  %t = getelementptr TYPE, ptr %target, i64 %t_at
  %known = load TYPE, ptr %t
  %sum = ADD TYPE %known, %value
  store TYPE %sum, ptr %t
"""
_SLICE_SOURCE = "%s = getelementptr TYPE, ptr %source, i64 %at\n"


# Where a slice is one number.
_THIN_PLACE = """%a_at = add i64 %o_source, %a
  %a_p = getelementptr i64, ptr %places, i64 PLACE
  %a_place = load i64, ptr %a_p
  %a_t = add i64 %o_target, %a_place
  %a_s_at = mul i64 %a_at, %step
  %a_s = getelementptr TYPE, ptr %source, i64 %a_s_at
  %a_value = load TYPE, ptr %a_s
  %a_to = getelementptr TYPE, ptr %target, i64 %a_t
"""
_THIN_STORE = "  store TYPE %a_value, ptr %a_to\n"
_THIN_ADD = """  %a_known = load TYPE, ptr %a_to
  %a_sum = ADD TYPE %a_known, %a_value
  store TYPE %a_sum, ptr %a_to
"""


def source() -> str:
    """The loops as LLVM IR."""
    own = _THIN_PLACE.replace("PLACE", "%a_at")
    loops = [_loop(f"scatter_{name}", kind, "", _OWN_PLACE + _STORE, own + _THIN_STORE) for name, kind in SET.items()]
    for kind, add in ADDED.items():
        loops.append(_loop(f"scatter_add_{kind}", kind, "", _OWN_PLACE + _ADD, own + _THIN_ADD, add))
        slices = _THIN_PLACE.replace("PLACE", "%a")
        loops.append(_loop(f"slices_add_{kind}", kind, _ROW_PLACE, _SLICE_SOURCE + _ADD, slices + _THIN_ADD, add))
    equal = [_EQUAL.replace("TYPE", kind).replace("COMPARE", compare) for kind, compare in COMPARED.items()]
    return "\n".join([_DECLARED, _FIT, *equal, *loops])


def _loop(name: str, kind: str, row: str, each: str, thin: str, add: str = "") -> str:
    text = _LOOP.replace("NAME", name)
    for mark, part in (("ROW", row), ("EACH", each), ("THIN", thin)):
        text = text.replace(f"  {mark}\n", f"  {part}\n")
    return text.replace("TYPE", kind).replace("ADD", add)
