; along(x, dim[, keepdim]): a program along one dimension of an array in one piece (positions.py), around the kernel beneath.
; later.ll's along_gate calls it. `self` is an array of words: 0 the kernel beneath, 1 the function in Python that serves what is not served here, 2 how many
; elements, 3 the kind of result (0: of the array's shape, 1: positions without the dimension, 2: values and positions), 8 the dtypes,
; 12 that of positions, 16 the loops for the dtypes.

define ptr @along(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [5 x i64], align 64
  %shape = alloca [64 x i64]
  %g = call ptr @at(ptr %self, i64 16)
  %kind = call i64 @word(ptr %g, i64 3)
  %like = icmp eq i64 %kind, 0
  %expected = select i1 %like, i64 2, i64 3
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %c0 = and i1 %complete, %unnamed
  br i1 %c0, label %array, label %other
array:
  %Array = load ptr, ptr @g_ndarray
  %x = call ptr @pointer(ptr %args, i64 0)
  %type = call ptr @at(ptr %x, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %layout, label %other
layout:
  %solid = call i1 @has_flags(ptr %x, i32 257)
  %nd = call i64 @dimensions(ptr %x)
  %size = call i64 @elements(ptr %x)
  %most = call i64 @word(ptr %g, i64 2)
  %has_dims = icmp sgt i64 %nd, 0
  %some = icmp sgt i64 %size, 0
  %few = icmp sle i64 %size, %most
  %c1 = and i1 %solid, %has_dims
  %c2 = and i1 %some, %few
  %c3 = and i1 %c1, %c2
  br i1 %c3, label %dtype, label %other
dtype:
  %of = call ptr @at(ptr %x, i64 56)
  %t0 = call ptr @pointer(ptr %g, i64 8)
  %t1 = call ptr @pointer(ptr %g, i64 9)
  %is0 = icmp eq ptr %of, %t0
  %is1 = icmp eq ptr %of, %t1
  %known = or i1 %is0, %is1
  %loop_at = select i1 %is0, i64 16, i64 17
  %function = call ptr @pointer(ptr %g, i64 %loop_at)
  %there = icmp ne ptr %function, null
  %c4 = and i1 %known, %there
  br i1 %c4, label %which, label %other
which:
  %given = call ptr @pointer(ptr %args, i64 1)
  %None = load ptr, ptr @g_None
  %absent = icmp eq ptr %given, %None
  br i1 %absent, label %all, label %dim
all:  ; of all elements in a row
  %positions_only = icmp eq i64 %kind, 1
  br i1 %positions_only, label %all_kept, label %other
all_kept:
  %all_keepdim = call ptr @pointer(ptr %args, i64 2)
  %all_False = load ptr, ptr @g_False
  %all_gone = icmp eq ptr %all_keepdim, %all_False
  br i1 %all_gone, label %all_make, label %other
all_make:
  %all_Index = call ptr @pointer(ptr %g, i64 12)
  %one = call ptr @new_row(ptr %all_Index, i32 0, ptr %shape)
  %one_lost = icmp eq ptr %one, null
  br i1 %one_lost, label %fail, label %all_run
all_run:
  call void @data_slot(ptr %context, i64 0, ptr %x)
  call void @data_slot(ptr %context, i64 1, ptr %one)
  call void @data_slot(ptr %context, i64 2, ptr %one)
  call void @slot(ptr %context, i64 3, i64 %size)
  call void @slot(ptr %context, i64 4, i64 1)
  call void %function(ptr %context, i64 0, i64 1)
  ret ptr %one
dim:
  %number = call i64 @whole_number(ptr %given, i64 -9999)
  %back = add i64 %number, %nd
  %negative = icmp slt i64 %number, 0
  %d = select i1 %negative, i64 %back, i64 %number
  %inside = icmp ult i64 %d, %nd
  br i1 %inside, label %keep, label %other
keep:
  br i1 %like, label %measure, label %keepdim
keepdim:
  %keepdim_given = call ptr @pointer(ptr %args, i64 2)
  %True = load ptr, ptr @g_True
  %False = load ptr, ptr @g_False
  %kept = icmp eq ptr %keepdim_given, %True
  %not_kept = icmp eq ptr %keepdim_given, %False
  %either = or i1 %kept, %not_kept
  br i1 %either, label %measure, label %other
measure:
  %stays = phi i1 [true, %keep], [%kept, %keepdim]
  %dims = call ptr @at(ptr %x, i64 32)
  %length = call i64 @word(ptr %dims, i64 %d)
  %after = add i64 %d, 1
  %inner = call i64 @span(ptr %dims, i64 %after, i64 %nd)
  %items = sdiv i64 %size, %length
  call void @data_slot(ptr %context, i64 0, ptr %x)
  br i1 %like, label %make_like, label %shape_of
make_like:
  %out = call ptr @new_like(ptr %x, ptr %of, i1 false)
  %out_lost = icmp eq ptr %out, null
  br i1 %out_lost, label %fail, label %run_like
run_like:
  call void @data_slot(ptr %context, i64 1, ptr %out)
  call void @slot(ptr %context, i64 2, i64 %length)
  call void @slot(ptr %context, i64 3, i64 %inner)
  call void %function(ptr %context, i64 0, i64 %items)
  ret ptr %out
shape_of:
  %k = phi i64 [0, %measure], [%knext, %sized]
  %rank = phi i64 [0, %measure], [%rank_next, %sized]
  %k_end = icmp eq i64 %k, %nd
  br i1 %k_end, label %make, label %size_one
size_one:
  %its = call i64 @word(ptr %dims, i64 %k)
  %is_dim = icmp eq i64 %k, %d
  %length_out = select i1 %is_dim, i64 1, i64 %its
  %slot_p = getelementptr i64, ptr %shape, i64 %rank
  store i64 %length_out, ptr %slot_p
  %goes = xor i1 %stays, true
  %skip = and i1 %is_dim, %goes
  br label %sized
sized:
  %step = select i1 %skip, i64 0, i64 1
  %rank_next = add i64 %rank, %step
  %knext = add i64 %k, 1
  br label %shape_of
make:
  %rank32 = trunc i64 %rank to i32
  %Index = call ptr @pointer(ptr %g, i64 12)
  %where = call ptr @new_row(ptr %Index, i32 %rank32, ptr %shape)
  %where_lost = icmp eq ptr %where, null
  br i1 %where_lost, label %fail, label %both
both:
  %pair = icmp eq i64 %kind, 2
  br i1 %pair, label %make_values, label %run
make_values:
  %values = call ptr @new_row(ptr %of, i32 %rank32, ptr %shape)
  %tuple = call ptr @PyTuple_New(i64 2)
  %values_lost = icmp eq ptr %values, null
  %tuple_lost = icmp eq ptr %tuple, null
  %any_lost = or i1 %values_lost, %tuple_lost
  br i1 %any_lost, label %fail, label %put
put:
  call void @item(ptr %tuple, i64 0, ptr %values)
  call void @item(ptr %tuple, i64 1, ptr %where)
  br label %run
run:
  %result = phi ptr [%where, %both], [%tuple, %put]
  %written = phi ptr [%where, %both], [%values, %put]
  call void @data_slot(ptr %context, i64 1, ptr %where)
  call void @data_slot(ptr %context, i64 2, ptr %written)
  call void @slot(ptr %context, i64 3, i64 %length)
  call void @slot(ptr %context, i64 4, i64 %inner)
  call void %function(ptr %context, i64 0, i64 %items)
  ret ptr %result
fail:
  ret ptr null
other:
  %answer = call ptr @serve_or_pass(ptr %g, ptr %args, i64 %n, ptr %names, i1 true)
  ret ptr %answer
}
