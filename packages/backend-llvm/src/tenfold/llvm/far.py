"""Large angles less right angles, as LLVM IR: the bits of 2 / pi that matter, times the mantissa, in whole numbers.

Source: M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983).
"""

from __future__ import annotations

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # the sum of these
# The functions of an angle: the rest in two parts, and how many right angles were taken off, modulo 4.
NAMES = {"far_high": "double", "far_low": "double", "far_quarters": "i64"}
WORD = 64
# The first 1280 bits of 2 / pi.
TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb12"
    "9a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367e"
    "cf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)  # fmt: skip
_COUNT = 1280 // WORD
_WORDS = ", ".join(["i64 0", *(f"i64 {TWO_OVER_PI >> WORD * (_COUNT - 1 - k) & (1 << WORD) - 1}" for k in range(_COUNT))])
_PURE = "nounwind willreturn memory(none)"
# With |x| = 2**e m, m a whole number of 53 bits, powers of two times m above 2 are whole turns: the product begins at the bit of
# weight 2**(1 - e), and its first two bits are the quarters. A word of zeros stands before the bits, for small e.
_TEXT = f"""
@far_words = internal constant [{_COUNT + 1} x i64] [{_WORDS}]
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)
define internal {{ double, double, i64 }} @far(double %x) {_PURE} {{
  %pattern = bitcast double %x to i64
  %upper = lshr i64 %pattern, 52
  %biased = and i64 %upper, 2047
  %low = and i64 %pattern, 4503599627370495
  %m = or i64 %low, 4503599627370496
  %first = add i64 %biased, {WORD - 2 - 1075}
  %word = lshr i64 %first, 6
  %bit = and i64 %first, 63
  %p0 = getelementptr i64, ptr @far_words, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %t0 = load i64, ptr %p0
  %t1 = load i64, ptr %p1
  %t2 = load i64, ptr %p2
  %t3 = load i64, ptr %p3
  %w2 = call i64 @llvm.fshl.i64(i64 %t0, i64 %t1, i64 %bit)
  %w1 = call i64 @llvm.fshl.i64(i64 %t1, i64 %t2, i64 %bit)
  %w0 = call i64 @llvm.fshl.i64(i64 %t2, i64 %t3, i64 %bit)
  %mw = zext i64 %m to i128
  %w0w = zext i64 %w0 to i128
  %w1w = zext i64 %w1 to i128
  %a = mul i128 %mw, %w0w
  %b = mul i128 %mw, %w1w
  %c = mul i64 %m, %w2
  %aw = lshr i128 %a, 64
  %a0 = trunc i128 %a to i64
  %mid = add i128 %aw, %b
  %midw = lshr i128 %mid, 64
  %mid1 = trunc i128 %midw to i64
  %mid0 = trunc i128 %mid to i64
  %top = add i64 %mid1, %c
  %whole = lshr i64 %top, 62
  %f1 = call i64 @llvm.fshl.i64(i64 %top, i64 %mid0, i64 2)
  %f0 = call i64 @llvm.fshl.i64(i64 %mid0, i64 %a0, i64 2)
  %more = lshr i64 %f1, 63
  %n = add i64 %whole, %more
  %f1w = zext i64 %f1 to i128
  %f1s = shl i128 %f1w, 64
  %f0w = zext i64 %f0 to i128
  %f = or i128 %f1s, %f0w
  %minus = sub i128 0, %f
  %over = icmp slt i64 %f1, 0
  %size = select i1 %over, i128 %minus, i128 %f
  %sizew = lshr i128 %size, 64
  %s1 = trunc i128 %sizew to i64
  %s0 = trunc i128 %size to i64
  %zeros = call i64 @llvm.ctlz.i64(i64 %s1, i1 false)
  %h = call i64 @llvm.fshl.i64(i64 %s1, i64 %s0, i64 %zeros)
  %some = and i64 %zeros, 63
  %l = shl i64 %s0, %some
  %head = lshr i64 %h, 11
  %hl = shl i64 %h, 53
  %ll = lshr i64 %l, 11
  %tail = or i64 %hl, %ll
  %headf = uitofp i64 %head to double
  %tailf = uitofp i64 %tail to double
  %scale1 = sub i64 {1023 - 53}, %zeros
  %scale1s = shl i64 %scale1, 52
  %scale = bitcast i64 %scale1s to double
  %negative = icmp slt i64 %pattern, 0
  %turned = xor i1 %negative, %over
  %back = fneg double %scale
  %signed = select i1 %turned, double %back, double %scale
  %fh = fmul double %headf, %signed
  %fl0 = fmul double %tailf, %signed
  %fl = fmul double %fl0, {2.0**-64!r}
  %r = fmul double %fh, {HALF_PI[0]!r}
  %rm = fneg double %r
  %e0 = call double @llvm.fma.f64(double %fh, double {HALF_PI[0]!r}, double %rm)
  %e1 = call double @llvm.fma.f64(double %fh, double {HALF_PI[1]!r}, double %e0)
  %e2 = call double @llvm.fma.f64(double %fl, double {HALF_PI[0]!r}, double %e1)
  %nm = sub i64 0, %n
  %quarters = select i1 %negative, i64 %nm, i64 %n
  %one = insertvalue {{ double, double, i64 }} poison, double %r, 0
  %two = insertvalue {{ double, double, i64 }} %one, double %e2, 1
  %three = insertvalue {{ double, double, i64 }} %two, i64 %quarters, 2
  ret {{ double, double, i64 }} %three
}}
""" + "".join(
    f"""define internal {type} @{name}(double %x) alwaysinline {_PURE} {{
  %all = call {{ double, double, i64 }} @far(double %x)
  %part = extractvalue {{ double, double, i64 }} %all, {k}
  ret {type} %part
}}
"""
    for k, (name, type) in enumerate(NAMES.items())
)


def definitions(text: str) -> str:
    """The functions, if a module calls them."""
    return _TEXT if any(f"@{name}(" in text for name in NAMES) else ""
