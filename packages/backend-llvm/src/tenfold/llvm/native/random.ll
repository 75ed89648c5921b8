; The Mersenne Twister's words (Matsumoto and Nishimura, 1998) and the numbers made of them, in the state that NumPy keeps: 624
; words of 32 bits and the place of the next, after which the twister makes the next 624. normals.py writes what makes normals.


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
define internal void @twist_many(ptr %key, i64 %from, i64 %to, i64 %away) alwaysinline {
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
define internal void @draw_words(ptr %state, ptr noalias %out, i64 %count) noinline nounwind {
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
  br label %word
word:
  %i = phi i64 [0, %block], [%inext, %word]
  %p = getelementptr i32, ptr %source, i64 %i
  %q = getelementptr i32, ptr %target, i64 %i
  %y = load i32, ptr %p
  %s0 = lshr i32 %y, 11
  %y0 = xor i32 %y, %s0
  %s1 = shl i32 %y0, 7
  %m1 = and i32 %s1, -1658038656
  %y1 = xor i32 %y0, %m1
  %s2 = shl i32 %y1, 15
  %m2 = and i32 %s2, -272236544
  %y2 = xor i32 %y1, %m2
  %s3 = lshr i32 %y2, 18
  %y3 = xor i32 %y2, %s3
  store i32 %y3, ptr %q
  %inext = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %inext, %n
  br i1 %again, label %word, label %block_done
block_done:
  %after = add i64 %made, %n
  br label %more
done:
  ret void
}

; Words to uniforms in [0, 1), where they lie: of 24 bits of a word, of 53 bits of two.
define internal void @to_units32(ptr %data, i64 %count) noinline nounwind {
entry:
  %none = icmp slt i64 %count, 1
  br i1 %none, label %done, label %one
one:
  %i = phi i64 [0, %entry], [%inext, %one]
  %p = getelementptr i32, ptr %data, i64 %i
  %w = load i32, ptr %p
  %low = and i32 %w, 16777215
  %f = sitofp i32 %low to float
  %u = fmul float %f, 0x3E70000000000000
  %bits = bitcast float %u to i32
  store i32 %bits, ptr %p
  %inext = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %inext, %count
  br i1 %again, label %one, label %done
done:
  ret void
}

define internal double @unit64(i64 %two) alwaysinline {
  ; the first of the two words, which lies low, counts more
  %words = call i64 @llvm.fshl.i64(i64 %two, i64 %two, i64 32)
  %low = and i64 %words, 9007199254740991
  %f = sitofp i64 %low to double
  %u = fmul double %f, 0x3CA0000000000000
  ret double %u
}
declare i64 @llvm.fshl.i64(i64, i64, i64)

define internal void @to_units64(ptr %data, i64 %count) noinline nounwind {
entry:
  %none = icmp slt i64 %count, 1
  br i1 %none, label %done, label %one
one:
  %i = phi i64 [0, %entry], [%inext, %one]
  %p = getelementptr i64, ptr %data, i64 %i
  %w = load i64, ptr %p
  %u = call double @unit64(i64 %w)
  %bits = bitcast double %u to i64
  store i64 %bits, ptr %p
  %inext = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %inext, %count
  br i1 %again, label %one, label %done
done:
  ret void
}

; draws(kind, state, array): fill an array with the next words (0), with uniforms of float32 (1) or float64 (2), or with
; normals of float32 (3) or float64 (4), of which there are at least 16 and come in blocks of 16; of a last block that is
; not full the last 16 are drawn anew. Others may not draw from the state meanwhile.
define ptr @draws(ptr %self, ptr %args, i64 %n) {
entry:
  %o0 = call ptr @pointer(ptr %args, i64 0)
  %o1 = call ptr @pointer(ptr %args, i64 1)
  %array = call ptr @pointer(ptr %args, i64 2)
  %kind = call i64 @PyLong_AsSsize_t(ptr %o0)
  %address = call i64 @PyLong_AsSsize_t(ptr %o1)
  %state = inttoptr i64 %address to ptr
  %count = call i64 @elements(ptr %array)
  %data = call ptr @at(ptr %array, i64 16)
  %few = icmp slt i64 %count, 4096
  br i1 %few, label %held, label %released
held:
  call void @draw_kind(i64 %kind, ptr %state, ptr %data, i64 %count)
  br label %done
released:
  %thread = call ptr @PyEval_SaveThread()
  call void @draw_kind(i64 %kind, ptr %state, ptr %data, i64 %count)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %done
done:
  %none = load ptr, ptr @g_None
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}

define internal void @draw_kind(i64 %kind, ptr %state, ptr %data, i64 %count) nounwind {
entry:
  %rest = alloca [16 x double], align 64
  %wide2 = icmp eq i64 %kind, 2
  %wide4 = icmp eq i64 %kind, 4
  %wide = or i1 %wide2, %wide4
  %twice = zext i1 %wide to i64
  %normal = icmp sgt i64 %kind, 2
  %over = and i64 %count, 15
  %whole = sub i64 %count, %over
  call void @draw_units(i64 %kind, ptr %state, ptr %data, i64 %count)
  br i1 %normal, label %normals, label %done
normals:
  br i1 %wide, label %normals64, label %normals32
normals32:
  call void @to_normals32(ptr %data, i64 %whole)
  br label %incomplete
normals64:
  call void @to_normals64(ptr %data, i64 %whole)
  br label %incomplete
incomplete:
  %full = icmp eq i64 %over, 0
  br i1 %full, label %done, label %anew
anew:
  call void @draw_units(i64 %kind, ptr %state, ptr %rest, i64 16)
  %start = sub i64 %count, 16
  br i1 %wide, label %anew64, label %anew32
anew32:
  call void @to_normals32(ptr %rest, i64 16)
  %p32 = getelementptr float, ptr %data, i64 %start
  call void @llvm.memcpy.p0.p0.i64(ptr %p32, ptr %rest, i64 64, i1 false)
  br label %done
anew64:
  call void @to_normals64(ptr %rest, i64 16)
  %p64 = getelementptr double, ptr %data, i64 %start
  call void @llvm.memcpy.p0.p0.i64(ptr %p64, ptr %rest, i64 128, i1 false)
  br label %done
done:
  ret void
}

define internal void @draw_units(i64 %kind, ptr %state, ptr %data, i64 %count) nounwind {
entry:
  %wide2 = icmp eq i64 %kind, 2
  %wide4 = icmp eq i64 %kind, 4
  %wide = or i1 %wide2, %wide4
  br i1 %wide, label %double, label %single
single:
  call void @draw_words(ptr %state, ptr %data, i64 %count)
  %words = icmp eq i64 %kind, 0
  br i1 %words, label %done, label %units
units:
  call void @to_units32(ptr %data, i64 %count)
  br label %done
double:
  %twice = shl i64 %count, 1
  call void @draw_words(ptr %state, ptr %data, i64 %twice)
  call void @to_units64(ptr %data, i64 %count)
  br label %done
done:
  ret void
}

; swap(items, targets): swap the items (int64) i and targets[i] for i = 0, 1, …
define ptr @swap(ptr %self, ptr %args, i64 %n) {
entry:
  %items_array = call ptr @pointer(ptr %args, i64 0)
  %targets_array = call ptr @pointer(ptr %args, i64 1)
  %items = call ptr @at(ptr %items_array, i64 16)
  %targets = call ptr @at(ptr %targets_array, i64 16)
  %count = call i64 @elements(ptr %targets_array)
  %nothing = icmp slt i64 %count, 1
  br i1 %nothing, label %done, label %one
one:
  %i = phi i64 [0, %entry], [%inext, %one]
  %t = call i64 @word(ptr %targets, i64 %i)
  %p = getelementptr i64, ptr %items, i64 %i
  %q = getelementptr i64, ptr %items, i64 %t
  %a = load i64, ptr %p
  %b = load i64, ptr %q
  store i64 %b, ptr %p
  store i64 %a, ptr %q
  %inext = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %inext, %count
  br i1 %again, label %one, label %done
done:
  %none = load ptr, ptr @g_None
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}
