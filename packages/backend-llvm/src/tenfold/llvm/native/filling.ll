; Whole tensors written at once: `zero_`, and `copy_` from a tensor of the same shape and dtype.

; The array that such a call writes; null where the function's own code has to see. A gradient is nowhere recorded.
define internal ptr @written_whole(ptr %args, i64 %n, i64 %expected, ptr %names) {
entry:
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %unnamed = icmp eq ptr %names, null
  %complete = icmp eq i64 %n, %expected
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %complete
  br i1 %c, label %target, label %no
target:
  %tensor = load ptr, ptr %args
  %array = call ptr @writable(ptr %tensor, i32 1281)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %no, label %graph
graph:
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  br i1 %free, label %yes, label %ask
ask:
  %s1 = call i64 @word(ptr %flags, i64 1)
  %all_on = icmp eq i64 %s1, 0
  br i1 %all_on, label %no, label %ask_thread
ask_thread:
  %on = call i1 @grad_is_on()
  br i1 %on, label %no, label %yes
yes:
  ret ptr %array
no:
  ret ptr null
}

define i64 @size_in_bytes(ptr %array) {
  %n = call i64 @elements(ptr %array)
  %dtype = call ptr @at(ptr %array, i64 56)
  %each = call i64 @word(ptr %dtype, i64 5)
  %bytes = mul i64 %n, %each
  ret i64 %bytes
}

define ptr @path_zero_(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %array = call ptr @written_whole(ptr %args, i64 %n, i64 1, ptr %names)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %slow, label %write
write:
  %data = call ptr @at(ptr %array, i64 16)
  %bytes = call i64 @size_in_bytes(ptr %array)
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  %tensor = load ptr, ptr %args
  %noted = call i1 @note_write(ptr %tensor, ptr %array)
  br i1 %noted, label %done, label %fail
done:
  call void @Py_IncRef(ptr %tensor)
  ret ptr %tensor
fail:
  ret ptr null
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define ptr @path_copy_(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %array = call ptr @written_whole(ptr %args, i64 %n, i64 2, ptr %names)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %slow, label %source
source:
  %tensor = load ptr, ptr %args
  %from = call ptr @pointer(ptr %args, i64 1)
  %type = call ptr @at(ptr %from, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %read, label %slow
read:
  %read_array = call ptr @plain_array(ptr %from, i32 257)
  %unread = icmp eq ptr %read_array, null
  br i1 %unread, label %slow, label %fit
fit:
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %from, ptr @p_node)
  %free = icmp eq ptr %node, %None
  %d0 = call ptr @at(ptr %array, i64 56)
  %d1 = call ptr @at(ptr %read_array, i64 56)
  %one_dtype = icmp eq ptr %d0, %d1
  %one_shape = call i1 @same_shape(ptr %array, ptr %read_array)
  %apart = call i1 @lies_apart(ptr %from, ptr %tensor, i1 true)
  %c0 = and i1 %free, %one_dtype
  %c1 = and i1 %one_shape, %apart
  %c = and i1 %c0, %c1
  br i1 %c, label %write, label %slow
write:
  %data = call ptr @at(ptr %array, i64 16)
  %read_data = call ptr @at(ptr %read_array, i64 16)
  %bytes = call i64 @size_in_bytes(ptr %array)
  call void @copy_all(ptr %data, ptr %read_data, i64 %bytes)
  %noted = call i1 @note_write(ptr %tensor, ptr %array)
  br i1 %noted, label %done, label %fail
done:
  call void @Py_IncRef(ptr %tensor)
  ret ptr %tensor
fail:
  ret ptr null
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
