; linear_grads(g, input, weight, kernels): the gradients of bias, input and weight of an affine map, as new tensors, by the kernels
; in a table; None where the rule in Python has to, as where gradients are on or somebody looks on.

@a_sum = global ptr null  ; names
@a_mm = global ptr null

; An array in one piece as a matrix, all dimensions but the last as one; a new reference, null with an error.
define internal ptr @matrix_of(ptr %array, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %is = icmp eq i64 %nd, 2
  br i1 %is, label %as_it_is, label %make
as_it_is:
  call void @Py_IncRef(ptr %array)
  ret ptr %array
make:
  %dims = call ptr @at(ptr %array, i64 32)
  %last = sub i64 %nd, 1
  %width = call i64 @word(ptr %dims, i64 %last)
  %total = call i64 @elements(ptr %array)
  %rows = sdiv i64 %total, %width
  %dtype = call ptr @at(ptr %array, i64 56)
  %size = call i64 @word(ptr %dtype, i64 5)
  %step = mul i64 %size, %width
  call void @set_word(ptr %geometry, i64 0, i64 2)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  call void @put_dimension(ptr %geometry, i64 0, i64 %rows, i64 %step)
  call void @put_dimension(ptr %geometry, i64 1, i64 %width, i64 %size)
  %view = call ptr @array_view(ptr %array, ptr %geometry)
  ret ptr %view
}

; The shape of an array, with the steps of one that lies in one piece, whatever its own are where a size is 1.
define internal void @in_one_piece(ptr %array, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %dtype = call ptr @at(ptr %array, i64 56)
  %itemsize = call i64 @word(ptr %dtype, i64 5)
  call void @set_word(ptr %geometry, i64 0, i64 %nd)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  br label %each
each:
  %left = phi i64 [%nd, %entry], [%d, %one]
  %step = phi i64 [%itemsize, %entry], [%before, %one]
  %end = icmp eq i64 %left, 0
  br i1 %end, label %done, label %one
one:
  %d = sub i64 %left, 1
  %size = call i64 @word(ptr %dims, i64 %d)
  call void @put_dimension(ptr %geometry, i64 %d, i64 %size, i64 %step)
  %before = mul i64 %step, %size
  br label %each
done:
  ret void
}

; A matrix that a kernel made of two, in one piece; null with or without an error for anything else.
define internal ptr @product_by(ptr %kernel, ptr %a, ptr %b) {
entry:
  %told = alloca [2 x ptr]
  %second = getelementptr ptr, ptr %told, i64 1
  store ptr %a, ptr %told
  store ptr %b, ptr %second
  %made = call ptr @PyObject_Vectorcall(ptr %kernel, ptr %told, i64 2, ptr null)
  %found = call ptr @solid_array(ptr %made)
  ret ptr %found
}

; What a kernel returned, if that is an array in one piece; else null, and it is dropped.
define internal ptr @solid_array(ptr %made) {
entry:
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %no, label %look
look:
  %Array = load ptr, ptr @g_ndarray
  %type = call ptr @at(ptr %made, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %layout, label %drop
layout:
  %solid = call i1 @has_flags(ptr %made, i32 1)
  br i1 %solid, label %yes, label %drop
yes:
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %made)
  br label %no
no:
  ret ptr null
}

; The array of a tensor, or parameter, in one piece and of a dtype.
define internal ptr @array_like(ptr %tensor, ptr %dtype) {
entry:
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %array, label %no
array:
  %a = call ptr @plain_array(ptr %tensor, i32 257)
  %none = icmp eq ptr %a, null
  br i1 %none, label %no, label %kind
kind:
  %its = call ptr @at(ptr %a, i64 56)
  %same = icmp eq ptr %its, %dtype
  br i1 %same, label %yes, label %no
yes:
  ret ptr %a
no:
  ret ptr null
}

; Drop six references, of which some may be null.
define internal void @drop_all(ptr %objects) {
entry:
  br label %each
each:
  %i = phi i64 [0, %entry], [%inext, %next]
  %o = call ptr @pointer(ptr %objects, i64 %i)
  %none = icmp eq ptr %o, null
  br i1 %none, label %next, label %drop
drop:
  call void @Py_DecRef(ptr %o)
  br label %next
next:
  %inext = add i64 %i, 1
  %end = icmp eq i64 %inext, 6
  br i1 %end, label %done, label %each
done:
  ret void
}

define ptr @linear_grads(ptr %self, ptr %args, i64 %n) {
entry:
  %geometry = alloca [72 x i64]
  %held = alloca [6 x ptr]  ; g and the input as matrices, g transposed, the results, the kernels
  %told = alloca [3 x ptr]
  call void @llvm.memset.p0.i64(ptr %held, i8 0, i64 48, i1 false)
  %None = load ptr, ptr @g_None
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s1 = call i64 @word(ptr %flags, i64 1)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %unwatched = icmp eq i64 %s, 0
  %some_off = icmp ne i64 %s1, 0
  %complete = icmp eq i64 %n, 4
  %c0 = and i1 %unwatched, %some_off
  %c = and i1 %c0, %complete
  br i1 %c, label %thread, label %no
thread:
  %on = call i1 @grad_is_on()
  br i1 %on, label %no, label %arrays
arrays:
  %g_tensor = call ptr @pointer(ptr %args, i64 0)
  %x_tensor = call ptr @pointer(ptr %args, i64 1)
  %w_tensor = call ptr @pointer(ptr %args, i64 2)
  %plain = call i1 @is_plain(ptr %g_tensor)
  br i1 %plain, label %dtype, label %no
dtype:
  %g = call ptr @field(ptr %g_tensor, ptr @p_array)
  %kind = call ptr @at(ptr %g, i64 56)
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %single = icmp eq ptr %kind, %F32
  %double = icmp eq ptr %kind, %F64
  %floating = or i1 %single, %double
  %g_solid = call i1 @has_flags(ptr %g, i32 257)
  %x = call ptr @array_like(ptr %x_tensor, ptr %kind)
  %w = call ptr @array_like(ptr %w_tensor, ptr %kind)
  %has_x = icmp ne ptr %x, null
  %has_w = icmp ne ptr %w, null
  %d0 = and i1 %floating, %g_solid
  %d1 = and i1 %has_x, %has_w
  %d = and i1 %d0, %d1
  br i1 %d, label %ranks, label %no
ranks:
  %g_nd = call i64 @dimensions(ptr %g)
  %x_nd = call i64 @dimensions(ptr %x)
  %w_nd = call i64 @dimensions(ptr %w)
  %same_rank = icmp eq i64 %g_nd, %x_nd
  %enough = icmp sge i64 %g_nd, 2
  %few = icmp slt i64 %g_nd, 16
  %matrix = icmp eq i64 %w_nd, 2
  %r0 = and i1 %same_rank, %enough
  %r1 = and i1 %few, %matrix
  %r = and i1 %r0, %r1
  br i1 %r, label %sizes, label %no
sizes:
  %last = sub i64 %g_nd, 1
  %g_dims = call ptr @at(ptr %g, i64 32)
  %x_dims = call ptr @at(ptr %x, i64 32)
  %w_dims = call ptr @at(ptr %w, i64 32)
  %g_width = call i64 @word(ptr %g_dims, i64 %last)
  %x_width = call i64 @word(ptr %x_dims, i64 %last)
  %w_rows = call i64 @word(ptr %w_dims, i64 0)
  %w_columns = call i64 @word(ptr %w_dims, i64 1)
  %g_count = call i64 @elements(ptr %g)
  %x_count = call i64 @elements(ptr %x)
  %cross1 = mul i64 %g_count, %x_width
  %cross2 = mul i64 %x_count, %g_width
  %rows_agree = icmp eq i64 %cross1, %cross2
  %out_agrees = icmp eq i64 %g_width, %w_rows
  %in_agrees = icmp eq i64 %x_width, %w_columns
  %some = icmp sgt i64 %cross1, 0
  %z0 = and i1 %rows_agree, %out_agrees
  %z1 = and i1 %in_agrees, %some
  %z = and i1 %z0, %z1
  br i1 %z, label %kernels, label %no
kernels:
  %table = call ptr @pointer(ptr %args, i64 3)
  %sum_name = load ptr, ptr @a_sum
  %mm_name = load ptr, ptr @a_mm
  %h4 = getelementptr ptr, ptr %held, i64 4
  %h5 = getelementptr ptr, ptr %held, i64 5
  %sum = call ptr @PyObject_GetAttr(ptr %table, ptr %sum_name)
  store ptr %sum, ptr %h4
  %no_sum = icmp eq ptr %sum, null
  br i1 %no_sum, label %clear, label %other_kernel
other_kernel:
  %mm = call ptr @PyObject_GetAttr(ptr %table, ptr %mm_name)
  store ptr %mm, ptr %h5
  %no_mm = icmp eq ptr %mm, null
  br i1 %no_mm, label %clear, label %matrices
matrices:
  %h1 = getelementptr ptr, ptr %held, i64 1
  %h2 = getelementptr ptr, ptr %held, i64 2
  %h3 = getelementptr ptr, ptr %held, i64 3
  %a = call ptr @matrix_of(ptr %g, ptr %geometry)
  store ptr %a, ptr %held
  %no_a = icmp eq ptr %a, null
  br i1 %no_a, label %clear, label %second
second:
  %b = call ptr @matrix_of(ptr %x, ptr %geometry)
  store ptr %b, ptr %h1
  %no_b = icmp eq ptr %b, null
  br i1 %no_b, label %clear, label %turn
turn:
  %turned = call i1 @transposed(ptr %a, i64 0, i64 1, ptr %geometry)
  %at = call ptr @array_view(ptr %a, ptr %geometry)
  store ptr %at, ptr %h2
  %no_at = icmp eq ptr %at, null
  br i1 %no_at, label %clear, label %add_up
add_up:
  %results = call ptr @PyTuple_New(i64 3)
  store ptr %results, ptr %h3
  %no_results = icmp eq ptr %results, null
  br i1 %no_results, label %clear, label %bias
bias:
  %zero = load ptr, ptr @r_zero
  %False = load ptr, ptr @g_False
  call void @set_pointer(ptr %told, i64 0, ptr %a)
  call void @set_pointer(ptr %told, i64 1, ptr %zero)
  call void @set_pointer(ptr %told, i64 2, ptr %False)
  %summed = call ptr @PyObject_Vectorcall(ptr %sum, ptr %told, i64 3, ptr null)
  %of_bias = call ptr @solid_array(ptr %summed)
  %bias_put = call i1 @put_tensor(ptr %results, i64 0, ptr %of_bias)
  br i1 %bias_put, label %input, label %clear
input:
  %flat = call ptr @product_by(ptr %mm, ptr %a, ptr %w)
  %no_flat = icmp eq ptr %flat, null
  br i1 %no_flat, label %clear, label %shape
shape:
  %as_is = icmp eq i64 %g_nd, 2
  br i1 %as_is, label %put_input, label %reshape
reshape:  ; the input lies in one piece, as does this
  call void @in_one_piece(ptr %x, ptr %geometry)
  %shaped = call ptr @array_view(ptr %flat, ptr %geometry)
  call void @Py_DecRef(ptr %flat)
  br label %put_input
put_input:
  %of_input = phi ptr [%flat, %shape], [%shaped, %reshape]
  %input_put = call i1 @put_tensor(ptr %results, i64 1, ptr %of_input)
  br i1 %input_put, label %weight, label %clear
weight:
  %of_weight = call ptr @product_by(ptr %mm, ptr %at, ptr %b)
  %weight_put = call i1 @put_tensor(ptr %results, i64 2, ptr %of_weight)
  br i1 %weight_put, label %done, label %clear
done:
  store ptr null, ptr %h3
  call void @drop_all(ptr %held)
  ret ptr %results
clear:  ; the rule says what is wrong
  call void @forget()
  call void @drop_all(ptr %held)
  %interrupt = call ptr @PyErr_Occurred()
  %none_came = icmp eq ptr %interrupt, null
  br i1 %none_came, label %no, label %raise
raise:
  ret ptr null
no:
  call void @Py_IncRef(ptr %None)
  ret ptr %None
}

; Put a tensor of an array, whose reference is taken, into a new tuple; false where there is none.
define internal i1 @put_tensor(ptr %tuple, i64 %place, ptr %array) {
entry:
  %none = icmp eq ptr %array, null
  br i1 %none, label %no, label %make
make:
  %t = call ptr @new_tensor(ptr %array)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %no, label %put
put:
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %place, ptr %t)
  ret i1 true
no:
  ret i1 false
}
