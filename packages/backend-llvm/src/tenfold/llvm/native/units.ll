; A uniform in [0, 1) of 53 bits of two words.
define internal double @unit64(i64 %two) alwaysinline {
  ; the first of the two words, which lies low, counts more
  %words = call i64 @llvm.fshl.i64(i64 %two, i64 %two, i64 32)
  %low = and i64 %words, 9007199254740991
  %f = sitofp i64 %low to double
  %u = fmul double %f, 0x3CA0000000000000
  ret double %u
}
declare i64 @llvm.fshl.i64(i64, i64, i64)
