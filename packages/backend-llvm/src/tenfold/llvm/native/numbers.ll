; The Mersenne Twister's words (Matsumoto and Nishimura, 1998) and the uniforms made of them, in the state that NumPy keeps: 624
; words of 32 bits and the place of the next, after which the twister makes the next 624. A module by itself (functions.py), which
; the others call. normals.py writes what makes normals.


define internal <8 x i32> @twisted(<8 x i32> %this, <8 x i32> %next, <8 x i32> %far) alwaysinline {
  %high = and <8 x i32> %this, splat (i32 -2147483648)
  %low = and <8 x i32> %next, splat (i32 2147483647)
  %y = or <8 x i32> %high, %low
  %half = lshr <8 x i32> %y, splat (i32 1)
  %odd = and <8 x i32> %next, splat (i32 1)
  %all = sub <8 x i32> zeroinitializer, %odd
  %matrix = and <8 x i32> %all, splat (i32 -1727483681)
  %a = xor <8 x i32> %far, %half
  %b = xor <8 x i32> %a, %matrix
  ret <8 x i32> %b
}

; Words from … to, eight at a time: each of itself, the next one, and one so far away.
define internal void @twist_many(ptr %key, i64 %from, i64 %to, i64 %away) noinline nounwind {
entry:
  br label %look
look:
  %i = phi i64 [%from, %entry], [%inext, %eight]
  %inext = add i64 %i, 8
  %end = icmp sgt i64 %inext, %to
  br i1 %end, label %rest, label %eight
eight:
  %p = getelementptr i32, ptr %key, i64 %i
  %q = getelementptr i32, ptr %p, i64 1
  %r = getelementptr i32, ptr %p, i64 %away
  %this = load <8 x i32>, ptr %p, align 4
  %next = load <8 x i32>, ptr %q, align 4
  %far = load <8 x i32>, ptr %r, align 4
  %made = call <8 x i32> @twisted(<8 x i32> %this, <8 x i32> %next, <8 x i32> %far)
  store <8 x i32> %made, ptr %p, align 4
  br label %look
rest:
  %j = phi i64 [%i, %look], [%jnext, %one]
  %jend = icmp sge i64 %j, %to
  br i1 %jend, label %done, label %one
one:
  %jnext = add i64 %j, 1
  call void @twist_one(ptr %key, i64 %j, i64 %jnext, i64 %away)
  br label %rest
done:
  ret void
}

define internal void @twist_one(ptr %key, i64 %i, i64 %after, i64 %away) alwaysinline {
  %p = getelementptr i32, ptr %key, i64 %i
  %q = getelementptr i32, ptr %key, i64 %after
  %r = getelementptr i32, ptr %p, i64 %away
  %this = load i32, ptr %p
  %next = load i32, ptr %q
  %far = load i32, ptr %r
  %v0 = insertelement <8 x i32> zeroinitializer, i32 %this, i32 0
  %v1 = insertelement <8 x i32> zeroinitializer, i32 %next, i32 0
  %v2 = insertelement <8 x i32> zeroinitializer, i32 %far, i32 0
  %v = call <8 x i32> @twisted(<8 x i32> %v0, <8 x i32> %v1, <8 x i32> %v2)
  %made = extractelement <8 x i32> %v, i32 0
  store i32 %made, ptr %p
  ret void
}

define internal void @twist(ptr %key) noinline nounwind {
  call void @twist_many(ptr %key, i64 0, i64 227, i64 397)
  call void @twist_many(ptr %key, i64 227, i64 623, i64 -227)
  call void @twist_one(ptr %key, i64 623, i64 0, i64 -227)
  ret void
}

; The next words, tempered.
define void @draw_words(ptr %state, ptr noalias %out, i64 %count) noinline nounwind {
entry:
  %place = getelementptr i8, ptr %state, i64 2496
  br label %more
more:
  %made = phi i64 [0, %entry], [%after, %block_done]
  %missing = sub i64 %count, %made
  %enough = icmp slt i64 %missing, 1
  br i1 %enough, label %done, label %look
look:
  %at = load i32, ptr %place
  %used_up = icmp sgt i32 %at, 623
  br i1 %used_up, label %renew, label %block
renew:
  call void @twist(ptr %state)
  br label %block
block:
  %from32 = phi i32 [%at, %look], [0, %renew]
  %from = sext i32 %from32 to i64
  %left = sub i64 624, %from
  %n = call i64 @llvm.smin.i64(i64 %left, i64 %missing)
  %to = add i64 %from, %n
  %to32 = trunc i64 %to to i32
  store i32 %to32, ptr %place
  %source = getelementptr i32, ptr %state, i64 %from
  %target = getelementptr i32, ptr %out, i64 %made
  br label %look_on
look_on:
  %i = phi i64 [0, %block], [%inext, %many]
  %inext = add i64 %i, 16
  %few = icmp sgt i64 %inext, %n
  br i1 %few, label %rest, label %many
many:
  %p = getelementptr i32, ptr %source, i64 %i
  %q = getelementptr i32, ptr %target, i64 %i
  %y = load <16 x i32>, ptr %p, align 4
  %s0 = lshr <16 x i32> %y, splat (i32 11)
  %y0 = xor <16 x i32> %y, %s0
  %s1 = shl <16 x i32> %y0, splat (i32 7)
  %m1 = and <16 x i32> %s1, splat (i32 -1658038656)
  %y1 = xor <16 x i32> %y0, %m1
  %s2 = shl <16 x i32> %y1, splat (i32 15)
  %m2 = and <16 x i32> %s2, splat (i32 -272236544)
  %y2 = xor <16 x i32> %y1, %m2
  %s3 = lshr <16 x i32> %y2, splat (i32 18)
  %y3 = xor <16 x i32> %y2, %s3
  store <16 x i32> %y3, ptr %q, align 4
  br label %look_on
rest:
  %j = phi i64 [%i, %look_on], [%jnext, %word]
  %end = icmp sge i64 %j, %n
  br i1 %end, label %block_done, label %word
word:
  %p_one = getelementptr i32, ptr %source, i64 %j
  %q_one = getelementptr i32, ptr %target, i64 %j
  %one = load i32, ptr %p_one
  %one_s0 = lshr i32 %one, 11
  %one0 = xor i32 %one, %one_s0
  %one_s1 = shl i32 %one0, 7
  %one_m1 = and i32 %one_s1, -1658038656
  %one1 = xor i32 %one0, %one_m1
  %one_s2 = shl i32 %one1, 15
  %one_m2 = and i32 %one_s2, -272236544
  %one2 = xor i32 %one1, %one_m2
  %one_s3 = lshr i32 %one2, 18
  %one3 = xor i32 %one2, %one_s3
  store i32 %one3, ptr %q_one
  %jnext = add i64 %j, 1
  br label %rest
block_done:
  %after = add i64 %made, %n
  br label %more
done:
  ret void
}

; Words to uniforms in [0, 1), where they lie: of 24 bits of a word, of 53 bits of two.
define void @to_units32(ptr %data, i64 %count) noinline nounwind {
entry:
  br label %look
look:
  %i = phi i64 [0, %entry], [%inext, %many]
  %inext = add i64 %i, 32
  %few = icmp sgt i64 %inext, %count
  br i1 %few, label %look8, label %many
many:
  %p = getelementptr i32, ptr %data, i64 %i
  %w = load <32 x i32>, ptr %p, align 4
  %low = and <32 x i32> %w, splat (i32 16777215)
  %f = sitofp <32 x i32> %low to <32 x float>
  %u = fmul <32 x float> %f, splat (float 0x3E70000000000000)
  store <32 x float> %u, ptr %p, align 4
  br label %look
look8:
  %i8 = phi i64 [%i, %look], [%inext8, %eight]
  %inext8 = add i64 %i8, 8
  %few8 = icmp sgt i64 %inext8, %count
  br i1 %few8, label %rest, label %eight
eight:
  %p8 = getelementptr i32, ptr %data, i64 %i8
  %w8 = load <8 x i32>, ptr %p8, align 4
  %low8 = and <8 x i32> %w8, splat (i32 16777215)
  %f8 = sitofp <8 x i32> %low8 to <8 x float>
  %u8 = fmul <8 x float> %f8, splat (float 0x3E70000000000000)
  store <8 x float> %u8, ptr %p8, align 4
  br label %look8
rest:
  %j = phi i64 [%i8, %look8], [%jnext, %one]
  %end = icmp sge i64 %j, %count
  br i1 %end, label %done, label %one
one:
  %p_one = getelementptr i32, ptr %data, i64 %j
  %w_one = load i32, ptr %p_one
  %low_one = and i32 %w_one, 16777215
  %f_one = sitofp i32 %low_one to float
  %u_one = fmul float %f_one, 0x3E70000000000000
  store float %u_one, ptr %p_one
  %jnext = add i64 %j, 1
  br label %rest
done:
  ret void
}

define void @to_units64(ptr %data, i64 %count) noinline nounwind {
entry:
  br label %look
look:
  %i = phi i64 [0, %entry], [%inext, %many]
  %inext = add i64 %i, 4
  %few = icmp sgt i64 %inext, %count
  br i1 %few, label %rest, label %many
many:
  %p = getelementptr i64, ptr %data, i64 %i
  %w = load <4 x i64>, ptr %p, align 8
  %words = call <4 x i64> @llvm.fshl.v4i64(<4 x i64> %w, <4 x i64> %w, <4 x i64> splat (i64 32))
  %low = and <4 x i64> %words, splat (i64 9007199254740991)
  %f = uitofp <4 x i64> %low to <4 x double>
  %u = fmul <4 x double> %f, splat (double 0x3CA0000000000000)
  store <4 x double> %u, ptr %p, align 8
  br label %look
rest:
  %j = phi i64 [%i, %look], [%jnext, %one]
  %end = icmp sge i64 %j, %count
  br i1 %end, label %done, label %one
one:
  %p_one = getelementptr i64, ptr %data, i64 %j
  %w_one = load i64, ptr %p_one
  %u_one = call double @unit64(i64 %w_one)
  store double %u_one, ptr %p_one
  %jnext = add i64 %j, 1
  br label %rest
done:
  ret void
}

declare <4 x i64> @llvm.fshl.v4i64(<4 x i64>, <4 x i64>, <4 x i64>)
declare i64 @llvm.smin.i64(i64, i64)
