; The caching allocator for results, behind NumPy's handler protocol (NEP 49): fresh memory costs a page fault for every 4 KB,
; ten times what most loops take. Blocks have sizes of powers of two and three quarters of them; free ones wait in a list for
; each size. NumPy calls these functions under the interpreter's lock. Before each block lie 64 bytes: its size's number, the
; next free block while it is free, and what malloc gave.

@memory_lists = global [128 x ptr] zeroinitializer, align 64
@memory_cached = global i64 0         ; bytes in free blocks
@memory_used = global i64 0           ; bytes in blocks in use
@memory_peak = global i64 0
@memory_limit = global i64 268435456  ; of the bytes in free blocks
@memory_reused = global i64 0         ; how often a free block served
@memory_made = global i64 0           ; and how often none did

declare ptr @malloc(i64)
declare void @free(ptr)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.abs.i64(i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i64 @bucket(i64 %size) alwaysinline {
  %s = call i64 @llvm.smax.i64(i64 %size, i64 64)
  %m = sub i64 %s, 1
  %z = call i64 @llvm.ctlz.i64(i64 %m, i1 false)
  %k = sub i64 64, %z
  %power = shl i64 1, %k
  %quarter = lshr i64 %power, 2
  %three = sub i64 %power, %quarter
  %fits = icmp sle i64 %s, %three
  %even = shl i64 %k, 1
  %odd = sub i64 %even, 1
  %b = select i1 %fits, i64 %odd, i64 %even
  ret i64 %b
}

define internal i64 @room(i64 %b) alwaysinline {
  %odd = and i64 %b, 1
  %up = add i64 %b, %odd
  %k = lshr i64 %up, 1
  %power = shl i64 1, %k
  %quarter = lshr i64 %power, 2
  %three = sub i64 %power, %quarter
  %is = icmp eq i64 %odd, 1
  %r = select i1 %is, i64 %three, i64 %power
  ret i64 %r
}

define internal void @count(i64 %bytes) alwaysinline {
  %used = load i64, ptr @memory_used
  %now = add i64 %used, %bytes
  store i64 %now, ptr @memory_used
  %peak = load i64, ptr @memory_peak
  %most = call i64 @llvm.smax.i64(i64 %peak, i64 %now)
  store i64 %most, ptr @memory_peak
  ret void
}

; Give free blocks back to the system until at most `bytes` are kept.
define void @memory_trim(i64 %bytes) nounwind {
entry:
  br label %list
list:
  %b = phi i64 [127, %entry], [%bless, %down]
  %head = getelementptr ptr, ptr @memory_lists, i64 %b
  br label %look
look:
  %kept = load i64, ptr @memory_cached
  %enough = icmp sle i64 %kept, %bytes
  br i1 %enough, label %done, label %first
first:
  %p = load ptr, ptr %head
  %none = icmp eq ptr %p, null
  br i1 %none, label %down, label %give
give:
  %np = getelementptr i8, ptr %p, i64 8
  %next = load ptr, ptr %np
  store ptr %next, ptr %head
  %room = call i64 @room(i64 %b)
  %left = sub i64 %kept, %room
  store i64 %left, ptr @memory_cached
  %rp = getelementptr i8, ptr %p, i64 16
  %raw = load ptr, ptr %rp
  call void @free(ptr %raw)
  br label %look
down:
  %bless = sub i64 %b, 1
  %end = icmp slt i64 %b, 1
  br i1 %end, label %done, label %list
done:
  ret void
}

define ptr @memory_malloc(ptr %ctx, i64 %size) nounwind {
entry:
  %b = call i64 @bucket(i64 %size)
  %room = call i64 @room(i64 %b)
  %head = getelementptr ptr, ptr @memory_lists, i64 %b
  %first = load ptr, ptr %head
  %none = icmp eq ptr %first, null
  br i1 %none, label %fresh, label %reuse
reuse:
  %np = getelementptr i8, ptr %first, i64 8
  %next = load ptr, ptr %np
  store ptr %next, ptr %head
  %cached = load i64, ptr @memory_cached
  %less = sub i64 %cached, %room
  store i64 %less, ptr @memory_cached
  %reused = load i64, ptr @memory_reused
  %reused1 = add i64 %reused, 1
  store i64 %reused1, ptr @memory_reused
  br label %out
fresh:
  %made = load i64, ptr @memory_made
  %made1 = add i64 %made, 1
  store i64 %made1, ptr @memory_made
  %total = add i64 %room, 128
  %try = call ptr @malloc(i64 %total)
  %bad = icmp eq ptr %try, null
  br i1 %bad, label %pressure, label %fill
pressure:
  call void @memory_trim(i64 0)
  %again = call ptr @malloc(i64 %total)
  %lost = icmp eq ptr %again, null
  br i1 %lost, label %fail, label %fill
fail:
  ret ptr null
fill:
  %raw = phi ptr [%try, %fresh], [%again, %pressure]
  %number = ptrtoint ptr %raw to i64
  %up = add i64 %number, 63
  %aligned = and i64 %up, -64
  %block = inttoptr i64 %aligned to ptr
  store i64 %b, ptr %block
  %rp = getelementptr i8, ptr %block, i64 16
  store ptr %raw, ptr %rp
  br label %out
out:
  %p = phi ptr [%first, %reuse], [%block, %fill]
  call void @count(i64 %room)
  %data = getelementptr i8, ptr %p, i64 64
  ret ptr %data
}

define void @memory_free(ptr %ctx, ptr %data, i64 %size) nounwind {
entry:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %done, label %some
some:
  %p = getelementptr i8, ptr %data, i64 -64
  %b = load i64, ptr %p
  %room = call i64 @room(i64 %b)
  %minus = sub i64 0, %room
  call void @count(i64 %minus)
  %cached = load i64, ptr @memory_cached
  %more = add i64 %cached, %room
  %limit = load i64, ptr @memory_limit
  %full = icmp sgt i64 %more, %limit
  br i1 %full, label %give, label %keep
keep:
  store i64 %more, ptr @memory_cached
  %head = getelementptr ptr, ptr @memory_lists, i64 %b
  %next = load ptr, ptr %head
  %np = getelementptr i8, ptr %p, i64 8
  store ptr %next, ptr %np
  store ptr %p, ptr %head
  br label %done
give:
  %rp = getelementptr i8, ptr %p, i64 16
  %raw = load ptr, ptr %rp
  call void @free(ptr %raw)
  br label %done
done:
  ret void
}

define ptr @memory_calloc(ptr %ctx, i64 %n, i64 %size) nounwind {
entry:
  %total = mul i64 %n, %size
  %p = call ptr @memory_malloc(ptr %ctx, i64 %total)
  %none = icmp eq ptr %p, null
  br i1 %none, label %out, label %zero
zero:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %total, i1 false)
  br label %out
out:
  ret ptr %p
}

define ptr @memory_realloc(ptr %ctx, ptr %data, i64 %size) nounwind {
entry:
  %p = getelementptr i8, ptr %data, i64 -64
  %b = load i64, ptr %p
  %room = call i64 @room(i64 %b)
  %fits = icmp sle i64 %size, %room
  br i1 %fits, label %same, label %move
same:
  ret ptr %data
move:
  %q = call ptr @memory_malloc(ptr %ctx, i64 %size)
  %bad = icmp eq ptr %q, null
  br i1 %bad, label %fail, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %data, i64 %room, i1 false)
  call void @memory_free(ptr %ctx, ptr %data, i64 %room)
  ret ptr %q
fail:
  ret ptr null
}

; Copy bytes to where none of them lie. Long copies go by vectors, from a whole line of the cache on: the processors' own
; instruction for it, which memcpy takes, is several times slower on some where both ends lie alike within a page. Where they
; are long enough to leave the near caches, lines are asked for before they are written, which takes a tenth less time.
define internal void @copy_bytes(ptr noalias %to, ptr noalias %from, i64 %n) nounwind {
entry:
  %long = icmp sge i64 %n, 1024
  br i1 %long, label %head, label %short
short:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
head:
  %first = load <64 x i8>, ptr %from, align 1
  store <64 x i8> %first, ptr %to, align 1
  %address = ptrtoint ptr %to to i64
  %over = and i64 %address, 63
  %begin = sub i64 64, %over
  %far = icmp sge i64 %n, 131072
  %end = sub i64 %n, 256
  br label %loop
loop:
  %i = phi i64 [%begin, %head], [%next, %write]
  %s0 = getelementptr i8, ptr %from, i64 %i
  %s1 = getelementptr i8, ptr %s0, i64 64
  %s2 = getelementptr i8, ptr %s0, i64 128
  %s3 = getelementptr i8, ptr %s0, i64 192
  %v0 = load <64 x i8>, ptr %s0, align 1
  %v1 = load <64 x i8>, ptr %s1, align 1
  %v2 = load <64 x i8>, ptr %s2, align 1
  %v3 = load <64 x i8>, ptr %s3, align 1
  %t0 = getelementptr i8, ptr %to, i64 %i
  %t1 = getelementptr i8, ptr %t0, i64 64
  %t2 = getelementptr i8, ptr %t0, i64 128
  %t3 = getelementptr i8, ptr %t0, i64 192
  br i1 %far, label %ahead, label %write
ahead:
  %a0 = getelementptr i8, ptr %t0, i64 2048
  %a1 = getelementptr i8, ptr %t0, i64 2112
  %a2 = getelementptr i8, ptr %t0, i64 2176
  %a3 = getelementptr i8, ptr %t0, i64 2240
  call void @llvm.prefetch.p0(ptr %a0, i32 1, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %a1, i32 1, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %a2, i32 1, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %a3, i32 1, i32 3, i32 1)
  br label %write
write:
  store <64 x i8> %v0, ptr %t0, align 64
  store <64 x i8> %v1, ptr %t1, align 64
  store <64 x i8> %v2, ptr %t2, align 64
  store <64 x i8> %v3, ptr %t3, align 64
  %next = add i64 %i, 256
  %more = icmp sle i64 %next, %end
  br i1 %more, label %loop, label %rest
rest:
  %left = sub i64 %n, %next
  %s = getelementptr i8, ptr %from, i64 %next
  %t = getelementptr i8, ptr %to, i64 %next
  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %s, i64 %left, i1 false)
  ret void
}

; Bytes from … to of a copy, whose words are the target and the source.
define internal void @copy_part(ptr %ctx, i64 %from, i64 %to) nounwind {
  %target = load ptr, ptr %ctx
  %second = getelementptr ptr, ptr %ctx, i64 1
  %source = load ptr, ptr %second
  %t = getelementptr i8, ptr %target, i64 %from
  %s = getelementptr i8, ptr %source, i64 %from
  %n = sub i64 %to, %from
  call void @copy_bytes(ptr %t, ptr %s, i64 %n)
  ret void
}

; Copy bytes to where some of them may lie; many are shared out to the threads.
define void @copy_all(ptr %to, ptr %from, i64 %n) nounwind {
entry:
  %context = alloca [2 x ptr]
  %t = ptrtoint ptr %to to i64
  %f = ptrtoint ptr %from to i64
  %distance = sub i64 %t, %f
  %gap = call i64 @llvm.abs.i64(i64 %distance, i1 false)
  %near = icmp slt i64 %gap, %n
  br i1 %near, label %across, label %apart
across:
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
apart:
  store ptr %to, ptr %context
  %second = getelementptr ptr, ptr %context, i64 1
  store ptr %from, ptr %second
  call void @perform(ptr @copy_part, ptr %context, i64 %n, i64 65536)
  ret void
}
