; product_gate(a, b[, bias]): small products of matrices, around the kernel beneath. `self` is an array of words: 0 the kernel
; beneath, 1 the function in Python that compiles, 2 the number of arguments, 3 whether b comes transposed, 4 the elements that a
; panel holds, 5 multiplications at most, 6 columns that a panel rounds up to, 8 two dtypes, 16 the compiled products for them.

define ptr @product_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [16 x i64], align 64
  %shape = alloca [2 x i64]
  %bias_data = alloca ptr
  store ptr null, ptr %bias_data
  %g = call ptr @at(ptr %self, i64 16)
  %expected = call i64 @word(ptr %g, i64 2)
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %simple = and i1 %complete, %unnamed
  br i1 %simple, label %types, label %under
types:
  %Array = load ptr, ptr @g_ndarray
  %None = load ptr, ptr @g_None
  %a = call ptr @pointer(ptr %args, i64 0)
  %b = call ptr @pointer(ptr %args, i64 1)
  %a_type = call ptr @at(ptr %a, i64 8)
  %b_type = call ptr @at(ptr %b, i64 8)
  %a_is = icmp eq ptr %a_type, %Array
  %b_is = icmp eq ptr %b_type, %Array
  %arrays = and i1 %a_is, %b_is
  br i1 %arrays, label %dtypes, label %under
dtypes:
  %dtype = call ptr @at(ptr %a, i64 56)
  %b_dtype = call ptr @at(ptr %b, i64 56)
  %agree = icmp eq ptr %dtype, %b_dtype
  %t0 = call ptr @pointer(ptr %g, i64 8)
  %t1 = call ptr @pointer(ptr %g, i64 9)
  %e0 = icmp eq ptr %dtype, %t0
  %e1 = icmp eq ptr %dtype, %t1
  %known = or i1 %e0, %e1
  %a_nd = call i64 @dimensions(ptr %a)
  %b_nd = call i64 @dimensions(ptr %b)
  %a_two = icmp eq i64 %a_nd, 2
  %b_two = icmp eq i64 %b_nd, 2
  %a_aligned = call i1 @has_flags(ptr %a, i32 256)
  %b_aligned = call i1 @has_flags(ptr %b, i32 256)
  %d0 = and i1 %agree, %known
  %d1 = and i1 %a_two, %b_two
  %d2 = and i1 %a_aligned, %b_aligned
  %d3 = and i1 %d0, %d1
  %d4 = and i1 %d2, %d3
  br i1 %d4, label %sizes, label %under
sizes:
  %a_dims = call ptr @at(ptr %a, i64 32)
  %b_dims = call ptr @at(ptr %b, i64 32)
  %a_steps = call ptr @at(ptr %a, i64 40)
  %b_steps = call ptr @at(ptr %b, i64 40)
  %turned_word = call i64 @word(ptr %g, i64 3)
  %turned = icmp ne i64 %turned_word, 0
  %m = call i64 @word(ptr %a_dims, i64 0)
  %k = call i64 @word(ptr %a_dims, i64 1)
  %b0 = call i64 @word(ptr %b_dims, i64 0)
  %b1 = call i64 @word(ptr %b_dims, i64 1)
  %s0 = call i64 @word(ptr %b_steps, i64 0)
  %s1 = call i64 @word(ptr %b_steps, i64 1)
  %b_k = select i1 %turned, i64 %b1, i64 %b0
  %columns = select i1 %turned, i64 %b0, i64 %b1
  %b_row = select i1 %turned, i64 %s1, i64 %s0
  %b_step = select i1 %turned, i64 %s0, i64 %s1
  %a_row = call i64 @word(ptr %a_steps, i64 0)
  %a_step = call i64 @word(ptr %a_steps, i64 1)
  %room = call i64 @word(ptr %g, i64 4)
  %most = call i64 @word(ptr %g, i64 5)
  %round = call i64 @word(ptr %g, i64 6)
  %up = add i64 %columns, %round
  %up1 = sub i64 %up, 1
  %units = udiv i64 %up1, %round
  %wide = mul i64 %units, %round
  %b_room = mul i64 %wide, %k
  %o_room = mul i64 %wide, %m
  %work = mul i64 %b_room, %m
  %fit_k = icmp eq i64 %k, %b_k
  %some_m = icmp sgt i64 %m, 0
  %some_k = icmp sgt i64 %k, 0
  %some_n = icmp sgt i64 %columns, 0
  %fit_b = icmp sle i64 %b_room, %room
  %fit_o = icmp sle i64 %o_room, %room
  %fit_w = icmp sle i64 %work, %most
  %f0 = and i1 %fit_k, %some_m
  %f1 = and i1 %some_k, %some_n
  %f2 = and i1 %fit_b, %fit_o
  %f3 = and i1 %f0, %f1
  %f4 = and i1 %f2, %fit_w
  %f5 = and i1 %f3, %f4
  br i1 %f5, label %third, label %under
third:
  %three = icmp eq i64 %n, 3
  br i1 %three, label %bias, label %find
bias:
  %c = call ptr @pointer(ptr %args, i64 2)
  %absent = icmp eq ptr %c, %None
  br i1 %absent, label %find, label %bias_look
bias_look:
  %c_fits = call i1 @fits(ptr %c, ptr %dtype)
  br i1 %c_fits, label %bias_shape, label %under
bias_shape:
  %c_nd = call i64 @dimensions(ptr %c)
  %c_n = call i64 @elements(ptr %c)
  %c_line = icmp eq i64 %c_nd, 1
  %c_long = icmp eq i64 %c_n, %columns
  %c_is = and i1 %c_line, %c_long
  br i1 %c_is, label %bias_take, label %under
bias_take:
  %c_data = call ptr @at(ptr %c, i64 16)
  store ptr %c_data, ptr %bias_data
  br label %find
find:
  %f_at = select i1 %e0, i64 16, i64 17
  %function = call ptr @pointer(ptr %g, i64 %f_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %compile, label %make
compile:
  %compiler = call ptr @pointer(ptr %g, i64 1)
  %done = call ptr @PyObject_Vectorcall(ptr %compiler, ptr %args, i64 1, ptr null)
  %raised = icmp eq ptr %done, null
  br i1 %raised, label %fail, label %compiled
compiled:
  call void @Py_DecRef(ptr %done)
  %function2 = call ptr @pointer(ptr %g, i64 %f_at)
  %still = icmp eq ptr %function2, null
  br i1 %still, label %under, label %make
make:
  %run = phi ptr [%function, %find], [%function2, %compiled]
  store i64 %m, ptr %shape
  %shape1 = getelementptr i64, ptr %shape, i64 1
  store i64 %columns, ptr %shape1
  call void @Py_IncRef(ptr %dtype)
  %out = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 2, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  %lost = icmp eq ptr %out, null
  br i1 %lost, label %fail, label %fill
fail:
  ret ptr null
fill:
  %a_data = call ptr @at(ptr %a, i64 16)
  %b_data = call ptr @at(ptr %b, i64 16)
  %o_data = call ptr @at(ptr %out, i64 16)
  %with = load ptr, ptr %bias_data
  store ptr %a_data, ptr %context
  %p1 = getelementptr i64, ptr %context, i64 1
  store ptr %b_data, ptr %p1
  %p2 = getelementptr i64, ptr %context, i64 2
  store ptr %o_data, ptr %p2
  %p3 = getelementptr i64, ptr %context, i64 3
  store ptr %with, ptr %p3
  %p4 = getelementptr i64, ptr %context, i64 4
  store i64 %a_row, ptr %p4
  %p5 = getelementptr i64, ptr %context, i64 5
  store i64 %a_step, ptr %p5
  %p6 = getelementptr i64, ptr %context, i64 6
  store i64 %b_row, ptr %p6
  %p7 = getelementptr i64, ptr %context, i64 7
  store i64 %b_step, ptr %p7
  %p8 = getelementptr i64, ptr %context, i64 8
  store i64 %m, ptr %p8
  %p9 = getelementptr i64, ptr %context, i64 9
  store i64 %columns, ptr %p9
  %p10 = getelementptr i64, ptr %context, i64 10
  store i64 %k, ptr %p10
  call void %run(ptr %context, i64 0, i64 1)
  ret ptr %out
under:
  %beneath = call ptr @pointer(ptr %g, i64 0)
  %passed = call ptr @PyObject_Vectorcall(ptr %beneath, ptr %args, i64 %n, ptr %names)
  ret ptr %passed
}
