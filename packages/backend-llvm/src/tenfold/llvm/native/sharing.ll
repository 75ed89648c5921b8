; `from_numpy` of an array that owns its memory, in one piece, of a usual dtype, and that may be written: a tensor on that memory.

define internal ptr @share_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s3 = call i64 @word(ptr %flags, i64 3)
  %s02 = or i64 %s0, %s2
  %s = or i64 %s02, %s3
  %usual = icmp eq i64 %s, 0
  %unnamed = icmp eq ptr %names, null
  %complete = icmp eq i64 %n, 1
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %complete
  br i1 %c, label %given, label %slow
given:
  %array = load ptr, ptr %args
  %Array = load ptr, ptr @g_ndarray
  %type = call ptr @at(ptr %array, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %look, label %slow
look:
  %base = call ptr @at(ptr %array, i64 48)
  %owns = icmp eq ptr %base, null
  %fit = call i1 @has_flags(ptr %array, i32 1285)  ; in one piece, its own, aligned, may be written
  %dtype = call ptr @at(ptr %array, i64 56)
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %I64 = load ptr, ptr @g_int64
  %single = icmp eq ptr %dtype, %F32
  %double = icmp eq ptr %dtype, %F64
  %long = icmp eq ptr %dtype, %I64
  %floating = or i1 %single, %double
  %known = or i1 %floating, %long
  %count = call i64 @elements(ptr %array)
  %some = icmp sgt i64 %count, 0
  %l0 = and i1 %owns, %fit
  %l1 = and i1 %known, %some
  %plain = and i1 %l0, %l1
  br i1 %plain, label %make, label %slow
make:
  %nd = call i64 @dimensions(ptr %array)
  %rank = trunc i64 %nd to i32
  %dims = call ptr @at(ptr %array, i64 32)
  %data = call ptr @at(ptr %array, i64 16)
  call void @Py_IncRef(ptr %dtype)
  %view = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr null, ptr %data, i32 1280, ptr null)
  %no_view = icmp eq ptr %view, null
  br i1 %no_view, label %fail, label %hold
hold:
  call void @Py_IncRef(ptr %array)
  %held = call i32 @PyArray_SetBaseObject(ptr %view, ptr %array)
  %not_held = icmp slt i32 %held, 0
  br i1 %not_held, label %drop_view, label %store
drop_view:
  call void @Py_DecRef(ptr %view)
  br label %fail
store:
  %storage = call ptr @new_storage(ptr %view)
  %no_storage = icmp eq ptr %storage, null
  br i1 %no_storage, label %drop_view, label %lend
lend:
  %True = load ptr, ptr @g_True
  call void @Py_IncRef(ptr %True)
  call void @replace(ptr %storage, ptr @v_lent_at, ptr %True)
  %t = call ptr @new_tensor(ptr %view)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %drop_storage, label %put
drop_storage:
  call void @Py_DecRef(ptr %storage)
  br label %fail
put:
  call void @replace(ptr %t, ptr @p_storage, ptr %storage)
  ret ptr %t
fail:
  ret ptr null
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
