; `equal` of two arrays in one piece, of one dtype and not too large for one thread: True or False.

define ptr @equal_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %unnamed = icmp eq ptr %names, null
  %complete = icmp eq i64 %n, 2
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %complete
  br i1 %c, label %arrays, label %slow
arrays:
  %a = call ptr @pointer(ptr %args, i64 0)
  %b = call ptr @pointer(ptr %args, i64 1)
  %x = call ptr @unrecorded_array(ptr %a, i1 true)
  %y = call ptr @unrecorded_array(ptr %b, i1 true)
  %x_fits = icmp ne ptr %x, null
  %y_fits = icmp ne ptr %y, null
  %both = and i1 %x_fits, %y_fits
  br i1 %both, label %dtypes, label %slow
dtypes:
  %dx = call ptr @at(ptr %x, i64 56)
  %dy = call ptr @at(ptr %y, i64 56)
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %I64 = load ptr, ptr @g_int64
  %single = icmp eq ptr %dx, %F32
  %double = icmp eq ptr %dx, %F64
  %long = icmp eq ptr %dx, %I64
  %floating = or i1 %single, %double
  %known = or i1 %floating, %long
  %alike = icmp eq ptr %dx, %dy
  %served = and i1 %known, %alike
  br i1 %served, label %own, label %slow
own:  ; a kernel of `equal` itself takes over
  %CPU = load ptr, ptr @p_CPU
  %None = load ptr, ptr @g_None
  %kernels = call ptr @pointer(ptr %words, i64 2)
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %none = icmp eq ptr %k, %None
  br i1 %none, label %shape, label %slow
shape:
  %one_shape = call i1 @same_shape(ptr %x, ptr %y)
  br i1 %one_shape, label %size, label %answer
size:
  %count = call i64 @elements(ptr %x)
  %few = icmp sle i64 %count, 262144
  br i1 %few, label %compiled, label %slow
compiled:
  %there = call i1 @loops_are_there()
  br i1 %there, label %compare, label %slow
compare:
  %equal_float = load ptr, ptr @l_equal_float
  %equal_double = load ptr, ptr @l_equal_double
  %equal_i64 = load ptr, ptr @l_equal_i64
  %p = call ptr @at(ptr %x, i64 16)
  %q = call ptr @at(ptr %y, i64 16)
  %wide = select i1 %double, ptr %equal_double, ptr %equal_i64
  %loop = select i1 %single, ptr %equal_float, ptr %wide
  %equal = call i1 %loop(ptr %p, ptr %q, i64 %count)
  br label %answer
answer:
  %is = phi i1 [false, %shape], [%equal, %compare]
  %True = load ptr, ptr @g_True
  %False = load ptr, ptr @g_False
  %found = select i1 %is, ptr %True, ptr %False
  call void @Py_IncRef(ptr %found)
  ret ptr %found
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
