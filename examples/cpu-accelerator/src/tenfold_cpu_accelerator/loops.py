"""Loops as LLVM IR, written plainly: LLVM's own vectoriser turns them into vector code for the machine at hand."""

from __future__ import annotations

ELEMENTWISE = """
define void @elementwise(ptr noalias readonly %x, ptr noalias %out, i64 %n, i64 %unused) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr inbounds float, ptr %x, i64 %i
  %a = load float, ptr %px, align 4
  %r = call float @f(float %a)
  %po = getelementptr inbounds float, ptr %out, i64 %i
  store float %r, ptr %po, align 4
  %next = add nuw nsw i64 %i, 1
  %stop = icmp eq i64 %next, %n
  br i1 %stop, label %done, label %loop
done:
  ret void
}
"""

# For each row: the maximum m, then e = exp(x - m) with its sum s, then `finish` of e and s. The sum is one of doubles, as
# the rows may be long, and only it may be reassociated; llvm.maximum hands NaN on.
ROWS = """
define void @rows(ptr noalias readonly %x, ptr noalias %out, i64 %rows, i64 %n) {
entry:
  br label %row
row:
  %k = phi i64 [0, %entry], [%knext, %rowdone]
  %base = mul i64 %k, %n
  %xr = getelementptr inbounds float, ptr %x, i64 %base
  %or = getelementptr inbounds float, ptr %out, i64 %base
  br label %max
max:
  %i = phi i64 [0, %row], [%inext, %max]
  %m = phi float [0xFFF0000000000000, %row], [%mnext, %max]
  %pi = getelementptr inbounds float, ptr %xr, i64 %i
  %xi = load float, ptr %pi, align 4
  %mnext = call float @llvm.maximum.f32(float %m, float %xi)
  %inext = add nuw nsw i64 %i, 1
  %istop = icmp eq i64 %inext, %n
  br i1 %istop, label %sumstart, label %max
sumstart:
  br label %sum
sum:
  %j = phi i64 [0, %sumstart], [%jnext, %sum]
  %s = phi double [0.0, %sumstart], [%snext, %sum]
  %pj = getelementptr inbounds float, ptr %xr, i64 %j
  %xj = load float, ptr %pj, align 4
  %d = fsub float %xj, %mnext
  %e = call float @f(float %d)
  %qj = getelementptr inbounds float, ptr %or, i64 %j
  store float $KEPT, ptr %qj, align 4
  %wide = fpext float %e to double
  %snext = fadd reassoc double %s, %wide
  %jnext = add nuw nsw i64 %j, 1
  %jstop = icmp eq i64 %jnext, %n
  br i1 %jstop, label %finishstart, label %sum
finishstart:
  %total = fptrunc double %snext to float
  %c = $CONSTANT
  br label %finish
finish:
  %l = phi i64 [0, %finishstart], [%lnext, %finish]
  %ql = getelementptr inbounds float, ptr %or, i64 %l
  %el = load float, ptr %ql, align 4
  %rl = $RESULT
  store float %rl, ptr %ql, align 4
  %lnext = add nuw nsw i64 %l, 1
  %lstop = icmp eq i64 %lnext, %n
  br i1 %lstop, label %rowdone, label %finish
rowdone:
  %knext = add nuw nsw i64 %k, 1
  %kstop = icmp eq i64 %knext, %rows
  br i1 %kstop, label %done, label %row
done:
  ret void
}
"""

SOFTMAX = ROWS.replace("$KEPT", "%e").replace("$CONSTANT", "fdiv float 1.0, %total").replace("$RESULT", "fmul float %el, %c")
LOG_SOFTMAX = (
    ROWS.replace("$KEPT", "%d")
    .replace("$CONSTANT", "call float @llvm.log.f32(float %total)")
    .replace("$RESULT", "fsub float %el, %c")
)
DECLARATIONS = "\n".join(
    f"declare float @llvm.{name}.f32({', '.join(['float'] * arguments)})"
    for name, arguments in {"fabs": 1, "fma": 3, "maximum": 2, "log": 1}.items()
)
