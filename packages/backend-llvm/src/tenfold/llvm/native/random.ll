; Random numbers for Python: what numbers.ll and normals.py make, in a module of their own.

declare void @draw_words(ptr, ptr noalias, i64)
declare void @to_units32(ptr, i64)
declare void @to_units64(ptr, i64)
declare void @to_normals32(ptr, i64)
declare void @to_normals64(ptr, i64)

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

define void @draw_kind(i64 %kind, ptr %state, ptr %data, i64 %count) nounwind {
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
