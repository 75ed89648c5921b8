; loss_gate(input, target, weight, ignore_index, label_smoothing, reduction) and loss_grad_gate(grad, ...): cross entropy of a few
; rows with class indices, and its gradient, around the kernels beneath. `self` is an array of words: 0 the kernel beneath, 1 the
; function in Python that serves what is not served here, 2 how many elements, 3 and 4 the strings "mean" and "sum", 8 the dtypes, 12
; that of indices, 16 the loops for the dtypes.

; Which dtype's loop serves the arguments from the input on, and how many rows and columns there are; -1 where none does.
define internal i64 @loss_kind(ptr %g, ptr %args, ptr %rows_is, ptr %columns_is, ptr %mean_is) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %None = load ptr, ptr @g_None
  %input = call ptr @pointer(ptr %args, i64 0)
  %target = call ptr @pointer(ptr %args, i64 1)
  %weight = call ptr @pointer(ptr %args, i64 2)
  %ignored = call ptr @pointer(ptr %args, i64 3)
  %smoothing = call ptr @pointer(ptr %args, i64 4)
  %reduction = call ptr @pointer(ptr %args, i64 5)
  %input_type = call ptr @at(ptr %input, i64 8)
  %target_type = call ptr @at(ptr %target, i64 8)
  %a0 = icmp eq ptr %input_type, %Array
  %a1 = icmp eq ptr %target_type, %Array
  %a2 = icmp eq ptr %weight, %None
  %a01 = and i1 %a0, %a1
  %a = and i1 %a01, %a2
  br i1 %a, label %layout, label %no
layout:
  %solid0 = call i1 @has_flags(ptr %input, i32 257)
  %solid1 = call i1 @has_flags(ptr %target, i32 257)
  %rank0 = call i64 @dimensions(ptr %input)
  %rank1 = call i64 @dimensions(ptr %target)
  %two = icmp eq i64 %rank0, 2
  %one = icmp eq i64 %rank1, 1
  %target_dtype = call ptr @at(ptr %target, i64 56)
  %Index = call ptr @pointer(ptr %g, i64 12)
  %indices = icmp eq ptr %target_dtype, %Index
  %b0 = and i1 %solid0, %solid1
  %b1 = and i1 %two, %one
  %b2 = and i1 %b0, %b1
  %b = and i1 %b2, %indices
  br i1 %b, label %sizes, label %no
sizes:
  %dims = call ptr @at(ptr %input, i64 32)
  %rows = call i64 @word(ptr %dims, i64 0)
  %columns = call i64 @word(ptr %dims, i64 1)
  %target_dims = call ptr @at(ptr %target, i64 32)
  %targets = call i64 @word(ptr %target_dims, i64 0)
  %size = mul i64 %rows, %columns
  %most = call i64 @word(ptr %g, i64 2)
  %some = icmp sgt i64 %size, 0
  %few = icmp sle i64 %size, %most
  %each = icmp eq i64 %rows, %targets
  %c0 = and i1 %some, %few
  %c = and i1 %c0, %each
  br i1 %c, label %options, label %no
options:
  %Float = load ptr, ptr @g_float
  %smoothing_type = call ptr @at(ptr %smoothing, i64 8)
  %is_float = icmp eq ptr %smoothing_type, %Float
  %ignored_at = call i64 @whole_number(ptr %ignored, i64 0)
  %a_class = icmp ult i64 %ignored_at, %columns
  %Mean = call ptr @pointer(ptr %g, i64 3)
  %Sum = call ptr @pointer(ptr %g, i64 4)
  %is_mean = icmp eq ptr %reduction, %Mean
  %is_sum = icmp eq ptr %reduction, %Sum
  %known = or i1 %is_mean, %is_sum
  %no_class = xor i1 %a_class, true
  %d0 = and i1 %is_float, %known
  %d = and i1 %d0, %no_class
  br i1 %d, label %plain, label %no
plain:
  %smoothing_at = getelementptr i8, ptr %smoothing, i64 16
  %smooth = load double, ptr %smoothing_at
  %sharp = fcmp oeq double %smooth, 0.0
  br i1 %sharp, label %dtype, label %no
dtype:
  %of = call ptr @at(ptr %input, i64 56)
  %t0 = call ptr @pointer(ptr %g, i64 8)
  %t1 = call ptr @pointer(ptr %g, i64 9)
  %is0 = icmp eq ptr %of, %t0
  %is1 = icmp eq ptr %of, %t1
  %kind1 = select i1 %is1, i64 1, i64 -1
  %kind = select i1 %is0, i64 0, i64 %kind1
  store i64 %rows, ptr %rows_is
  store i64 %columns, ptr %columns_is
  store i1 %is_mean, ptr %mean_is
  ret i64 %kind
no:
  ret i64 -1
}

define internal ptr @new_row(ptr %dtype, i32 %rank, ptr %count) alwaysinline {
  %Array = load ptr, ptr @g_ndarray
  call void @Py_IncRef(ptr %dtype)
  %made = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %count, ptr null, ptr null, i32 0, ptr null)
  ret ptr %made
}

define ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 %ask) {
entry:
  br i1 %ask, label %serve, label %under
serve:
  %server = call ptr @pointer(ptr %g, i64 1)
  %answer = call ptr @PyObject_Vectorcall(ptr %server, ptr %args, i64 %n, ptr %names)
  %NotImplemented = load ptr, ptr @g_NotImplemented
  %refused = icmp eq ptr %answer, %NotImplemented
  br i1 %refused, label %drop, label %answered
answered:
  ret ptr %answer
drop:
  call void @Py_DecRef(ptr %answer)
  br label %under
under:
  %beneath = call ptr @pointer(ptr %g, i64 0)
  %passed = call ptr @PyObject_Vectorcall(ptr %beneath, ptr %args, i64 %n, ptr %names)
  ret ptr %passed
}

define ptr @loss_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [10 x i64], align 64
  %rows_is = alloca i64
  %columns_is = alloca i64
  %mean_is = alloca i1
  %g = call ptr @at(ptr %self, i64 16)
  %complete = icmp eq i64 %n, 6
  %unnamed = icmp eq ptr %names, null
  %c = and i1 %complete, %unnamed
  br i1 %c, label %look, label %other
look:
  %kind = call i64 @loss_kind(ptr %g, ptr %args, ptr %rows_is, ptr %columns_is, ptr %mean_is)
  %foreign = icmp slt i64 %kind, 0
  br i1 %foreign, label %other, label %loop
loop:
  %loop_at = add i64 %kind, 16
  %function = call ptr @pointer(ptr %g, i64 %loop_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %other, label %make
make:
  %dtype_at = add i64 %kind, 8
  %dtype = call ptr @pointer(ptr %g, i64 %dtype_at)
  %Double = call ptr @pointer(ptr %g, i64 9)
  %loss = call ptr @new_row(ptr %dtype, i32 0, ptr %rows_is)
  %count = call ptr @new_row(ptr %dtype, i32 0, ptr %rows_is)
  %top = call ptr @new_row(ptr %dtype, i32 1, ptr %rows_is)
  %log_sum = call ptr @new_row(ptr %dtype, i32 1, ptr %rows_is)
  %losses = call ptr @new_row(ptr %Double, i32 1, ptr %rows_is)
  %all = call ptr @PyTuple_New(i64 4)
  %n0 = icmp eq ptr %loss, null
  %n1 = icmp eq ptr %count, null
  %n2 = icmp eq ptr %top, null
  %n3 = icmp eq ptr %log_sum, null
  %n4 = icmp eq ptr %losses, null
  %n5 = icmp eq ptr %all, null
  %o0 = or i1 %n0, %n1
  %o1 = or i1 %n2, %n3
  %o2 = or i1 %n4, %n5
  %o3 = or i1 %o0, %o1
  %o = or i1 %o2, %o3
  br i1 %o, label %fail, label %fill  ; what was made is lost with the memory that there is not
fill:
  %rows = load i64, ptr %rows_is
  %columns = load i64, ptr %columns_is
  %mean = load i1, ptr %mean_is
  %over = select i1 %mean, i64 %rows, i64 1
  %input = call ptr @pointer(ptr %args, i64 0)
  %target = call ptr @pointer(ptr %args, i64 1)
  call void @slot(ptr %context, i64 0, i64 %columns)
  call void @data_slot(ptr %context, i64 1, ptr %losses)
  call void @data_slot(ptr %context, i64 2, ptr %top)
  call void @data_slot(ptr %context, i64 3, ptr %log_sum)
  call void @data_slot(ptr %context, i64 4, ptr %input)
  call void @data_slot(ptr %context, i64 5, ptr %target)
  call void @data_slot(ptr %context, i64 6, ptr %loss)
  call void @data_slot(ptr %context, i64 7, ptr %count)
  call void @slot(ptr %context, i64 8, i64 %rows)
  call void @slot(ptr %context, i64 9, i64 %over)
  call void %function(ptr %context, i64 0, i64 1)
  call void @Py_DecRef(ptr %losses)
  call void @item(ptr %all, i64 0, ptr %loss)
  call void @item(ptr %all, i64 1, ptr %count)
  call void @item(ptr %all, i64 2, ptr %top)
  call void @item(ptr %all, i64 3, ptr %log_sum)
  %counted = call ptr @at(ptr %count, i64 16)
  %is_single = icmp eq i64 %kind, 0
  br i1 %is_single, label %narrow, label %wide
narrow:
  %f = load float, ptr %counted
  %f_some = fcmp ogt float %f, 0.0
  br i1 %f_some, label %done, label %drop
wide:
  %w = load double, ptr %counted
  %w_some = fcmp ogt double %w, 0.0
  br i1 %w_some, label %done, label %drop
done:
  ret ptr %all
drop:
  call void @Py_DecRef(ptr %all)
  %passed = call ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 false)
  ret ptr %passed
fail:
  ret ptr null
other:
  %answer = call ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 true)
  ret ptr %answer
}

define internal void @slot(ptr %context, i64 %k, i64 %value) alwaysinline {
  %p = getelementptr i64, ptr %context, i64 %k
  store i64 %value, ptr %p
  ret void
}

define internal void @data_slot(ptr %context, i64 %k, ptr %array) alwaysinline {
  %data = call ptr @at(ptr %array, i64 16)
  %p = getelementptr ptr, ptr %context, i64 %k
  store ptr %data, ptr %p
  ret void
}

define internal void @item(ptr %tuple, i64 %k, ptr %value) alwaysinline {
  %place = add i64 %k, 3
  %p = getelementptr ptr, ptr %tuple, i64 %place
  store ptr %value, ptr %p
  ret void
}

; Whether an array has a dtype and one number for each row.
define internal i1 @of_rows(ptr %array, ptr %dtype, i64 %rank, i64 %rows) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %type = call ptr @at(ptr %array, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %look, label %no
look:
  %solid = call i1 @has_flags(ptr %array, i32 257)
  %of = call ptr @at(ptr %array, i64 56)
  %fits = icmp eq ptr %of, %dtype
  %nd = call i64 @dimensions(ptr %array)
  %ranks = icmp eq i64 %nd, %rank
  %count = call i64 @elements(ptr %array)
  %sizes = icmp eq i64 %count, %rows
  %c0 = and i1 %solid, %fits
  %c1 = and i1 %ranks, %sizes
  %c = and i1 %c0, %c1
  ret i1 %c
no:
  ret i1 false
}

define ptr @loss_grad_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [9 x i64], align 64
  %rows_is = alloca i64
  %columns_is = alloca i64
  %mean_is = alloca i1
  %flag = alloca i64
  %g = call ptr @at(ptr %self, i64 16)
  %complete = icmp eq i64 %n, 10
  %unnamed = icmp eq ptr %names, null
  %c = and i1 %complete, %unnamed
  br i1 %c, label %look, label %other
look:
  %rest = getelementptr ptr, ptr %args, i64 1
  %kind = call i64 @loss_kind(ptr %g, ptr %rest, ptr %rows_is, ptr %columns_is, ptr %mean_is)
  %foreign = icmp slt i64 %kind, 0
  br i1 %foreign, label %other, label %loop
loop:
  %loop_at = add i64 %kind, 16
  %function = call ptr @pointer(ptr %g, i64 %loop_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %other, label %check
check:
  %dtype_at = add i64 %kind, 8
  %dtype = call ptr @pointer(ptr %g, i64 %dtype_at)
  %rows = load i64, ptr %rows_is
  %grad = call ptr @pointer(ptr %args, i64 0)
  %top = call ptr @pointer(ptr %args, i64 8)
  %log_sum = call ptr @pointer(ptr %args, i64 9)
  %g0 = call i1 @of_rows(ptr %grad, ptr %dtype, i64 0, i64 1)
  %g1 = call i1 @of_rows(ptr %top, ptr %dtype, i64 1, i64 %rows)
  %g2 = call i1 @of_rows(ptr %log_sum, ptr %dtype, i64 1, i64 %rows)
  %g01 = and i1 %g0, %g1
  %fits = and i1 %g01, %g2
  br i1 %fits, label %make, label %other
make:
  %input = call ptr @pointer(ptr %args, i64 1)
  %target = call ptr @pointer(ptr %args, i64 2)
  %out = call ptr @new_like(ptr %input, ptr %dtype, i1 false)
  %lost = icmp eq ptr %out, null
  br i1 %lost, label %fail, label %share
share:
  %grad_data = call ptr @at(ptr %grad, i64 16)
  %is_single = icmp eq i64 %kind, 0
  br i1 %is_single, label %narrow, label %wide
narrow:
  %f = load float, ptr %grad_data
  %f_wide = fpext float %f to double
  br label %fill
wide:
  %w = load double, ptr %grad_data
  br label %fill
fill:
  %whole = phi double [%f_wide, %narrow], [%w, %wide]
  %columns = load i64, ptr %columns_is
  %mean = load i1, ptr %mean_is
  %over = sitofp i64 %rows to double
  %part = fdiv double %whole, %over
  %one = select i1 %mean, double %part, double %whole
  %one_bits = bitcast double %one to i64
  %flag_bits = ptrtoint ptr %flag to i64
  store i64 0, ptr %flag
  call void @slot(ptr %context, i64 0, i64 %columns)
  call void @data_slot(ptr %context, i64 1, ptr %out)
  call void @data_slot(ptr %context, i64 2, ptr %input)
  call void @data_slot(ptr %context, i64 3, ptr %top)
  call void @data_slot(ptr %context, i64 4, ptr %log_sum)
  call void @slot(ptr %context, i64 5, i64 %one_bits)
  call void @data_slot(ptr %context, i64 6, ptr %target)
  call void @slot(ptr %context, i64 7, i64 %flag_bits)
  call void @slot(ptr %context, i64 8, i64 %rows)
  call void %function(ptr %context, i64 0, i64 1)
  %beyond = load i64, ptr %flag
  %good = icmp eq i64 %beyond, 0
  br i1 %good, label %done, label %drop
done:
  ret ptr %out
drop:
  call void @Py_DecRef(ptr %out)
  %passed = call ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 false)
  ret ptr %passed
fail:
  ret ptr null
other:
  %answer = call ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 true)
  ret ptr %answer
}
