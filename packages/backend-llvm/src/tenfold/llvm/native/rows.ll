; row_gate(*args): a kernel that is a program over rows or columns (rows.py, columns.py), around the one beneath it. `self` is an
; array of words, those of `gate` (elementwise.py names them) with other kinds of arguments, which row_gates.py names, the kinds
; of the results at 40, their number at 52, and at 53 whether all of them are returned. Served here: data in one piece, reduced
; over its last dimension, over all, or over any one. Other layouts go to the function in Python.

@g_tuple = global ptr null
@g_False = global ptr null
@g_True = global ptr null

declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)

; Whether this is an array of the dtype that lies in one piece.
define internal i1 @fits(ptr %a, ptr %dtype) alwaysinline {
entry:
  %Array = load ptr, ptr @g_ndarray
  %type = call ptr @at(ptr %a, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %look, label %no
look:
  %found = call ptr @at(ptr %a, i64 56)
  %same = icmp eq ptr %found, %dtype
  %solid = call i1 @has_flags(ptr %a, i32 257)
  %both = and i1 %same, %solid
  ret i1 %both
no:
  ret i1 false
}

; A Python int of the exact type, or `otherwise` for anything else and for what is too large.
define i64 @whole_number(ptr %v, i64 %otherwise) {
entry:
  %Int = load ptr, ptr @g_int
  %type = call ptr @at(ptr %v, i64 8)
  %is = icmp eq ptr %type, %Int
  br i1 %is, label %read, label %no
read:
  %n = call i64 @PyLong_AsSsize_t(ptr %v)
  %minus = icmp eq i64 %n, -1
  br i1 %minus, label %perhaps, label %yes
perhaps:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %yes, label %clear
clear:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i64 %n
no:
  ret i64 %otherwise
}

; The product of dimensions from..to.
define i64 @span(ptr %dims, i64 %from, i64 %to) {
entry:
  br label %look
look:
  %d = phi i64 [%from, %entry], [%dnext, %more]
  %n = phi i64 [1, %entry], [%nnext, %more]
  %end = icmp sge i64 %d, %to
  br i1 %end, label %done, label %more
more:
  %size = call i64 @word(ptr %dims, i64 %d)
  %nnext = mul i64 %n, %size
  %dnext = add i64 %d, 1
  br label %look
done:
  ret i64 %n
}

; A new array for a result: 0 of the data's shape, 1 with 1 in the place of the dimension `gone`, 2 without that; -1: all of them.
define internal ptr @new_result(i64 %kind, ptr %data, ptr %dtype, i64 %gone, i1 %cached) {
entry:
  %shape = alloca [64 x i64]
  %whole = icmp eq i64 %kind, 0
  br i1 %whole, label %like, label %other
like:
  %l = call ptr @new_like(ptr %data, ptr %dtype, i1 %cached)
  ret ptr %l
other:
  %Array = load ptr, ptr @g_ndarray
  %nd = call i64 @dimensions(ptr %data)
  %dims = call ptr @at(ptr %data, i64 32)
  %keeps = icmp eq i64 %kind, 1
  %all = icmp slt i64 %gone, 0
  br label %look
look:
  %d = phi i64 [0, %other], [%dnext, %next]
  %k = phi i64 [0, %other], [%knext, %next]
  %end = icmp eq i64 %d, %nd
  br i1 %end, label %make, label %one
one:
  %size = call i64 @word(ptr %dims, i64 %d)
  %this = icmp eq i64 %d, %gone
  %reduced = or i1 %this, %all
  %n = select i1 %reduced, i64 1, i64 %size
  %slot = getelementptr i64, ptr %shape, i64 %k
  store i64 %n, ptr %slot
  %left_out = xor i1 %keeps, true
  %drop = and i1 %reduced, %left_out
  %step = select i1 %drop, i64 0, i64 1
  br label %next
next:
  %dnext = add i64 %d, 1
  %knext = add i64 %k, %step
  br label %look
make:
  %rank = trunc i64 %k to i32
  call void @Py_IncRef(ptr %dtype)
  %r = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  ret ptr %r
}

define ptr @row_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [32 x i64], align 64
  %inputs = alloca [8 x ptr]
  %numbers = alloca [8 x double]
  %made = alloca [8 x ptr]
  %inputs_n = alloca i64
  %numbers_n = alloca i64
  %variant = alloca i64
  %bit = alloca i64
  %gone = alloca i64
  %length = alloca i64
  %items = alloca i64
  %after = alloca i64
  %keeping = alloca i1
  store i1 false, ptr %keeping
  store i64 0, ptr %inputs_n
  store i64 0, ptr %numbers_n
  store i64 0, ptr %variant
  store i64 1, ptr %bit
  store i64 1, ptr %after
  %g = call ptr @at(ptr %self, i64 16)
  %expected = call i64 @word(ptr %g, i64 2)
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %simple = and i1 %complete, %unnamed
  br i1 %simple, label %first, label %under
first:
  %Array = load ptr, ptr @g_ndarray
  %None = load ptr, ptr @g_None
  %data = load ptr, ptr %args
  %data_type = call ptr @at(ptr %data, i64 8)
  %is_array = icmp eq ptr %data_type, %Array
  br i1 %is_array, label %search, label %under
search:
  %dtype = call ptr @at(ptr %data, i64 56)
  %t0 = call ptr @pointer(ptr %g, i64 8)
  %t1 = call ptr @pointer(ptr %g, i64 9)
  %t2 = call ptr @pointer(ptr %g, i64 10)
  %t3 = call ptr @pointer(ptr %g, i64 11)
  %e0 = icmp eq ptr %dtype, %t0
  %e1 = icmp eq ptr %dtype, %t1
  %e2 = icmp eq ptr %dtype, %t2
  %e3 = icmp eq ptr %dtype, %t3
  %s3 = select i1 %e3, i64 3, i64 -1
  %s2 = select i1 %e2, i64 2, i64 %s3
  %s1 = select i1 %e1, i64 1, i64 %s2
  %dt = select i1 %e0, i64 0, i64 %s1
  %foreign = icmp slt i64 %dt, 0
  br i1 %foreign, label %under, label %measure
measure:
  %nd = call i64 @dimensions(ptr %data)
  %dims = call ptr @at(ptr %data, i64 32)
  %total = call i64 @elements(ptr %data)
  %solid = call i1 @has_flags(ptr %data, i32 257)
  %some = icmp sgt i64 %total, 0
  %ranked = icmp sgt i64 %nd, 0
  %c0 = and i1 %solid, %some
  %c1 = and i1 %c0, %ranked
  br i1 %c1, label %shape, label %ask
shape:
  %last = sub i64 %nd, 1
  %width = call i64 @word(ptr %dims, i64 %last)
  %rows = udiv i64 %total, %width
  store i64 %last, ptr %gone
  store i64 %width, ptr %length
  store i64 %rows, ptr %items
  br label %read

read:
  %i = phi i64 [0, %shape], [%inext, %next]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %choose, label %argument
argument:
  %a = call ptr @pointer(ptr %args, i64 %i)
  %kind_at = add i64 %i, 32
  %kind = call i64 @word(ptr %g, i64 %kind_at)
  switch i64 %kind, label %ask [
    i64 1, label %more_data
    i64 2, label %last_dimension
    i64 3, label %along
    i64 4, label %keepdim
    i64 5, label %one_dimension
    i64 6, label %one_size
    i64 7, label %column
    i64 8, label %number
    i64 9, label %scalars
  ]
more_data:
  %d_fits = call i1 @fits(ptr %a, ptr %dtype)
  br i1 %d_fits, label %d_shape, label %ask
d_shape:
  %d_same = call i1 @same_shape(ptr %data, ptr %a)
  br i1 %d_same, label %push, label %ask
last_dimension:
  %l = call i64 @whole_number(ptr %a, i64 -2)
  %l_minus = icmp eq i64 %l, -1
  %l_last = icmp eq i64 %l, %last
  %l_is = or i1 %l_minus, %l_last
  br i1 %l_is, label %next, label %ask
along:
  %w_none = icmp eq ptr %a, %None
  br i1 %w_none, label %over_all, label %over_one
over_all:
  store i64 -1, ptr %gone
  store i64 %total, ptr %length
  store i64 1, ptr %items
  br label %next
over_one:
  %w = call i64 @whole_number(ptr %a, i64 -9999)
  %w_back = add i64 %w, %nd
  %w_negative = icmp slt i64 %w, 0
  %d = select i1 %w_negative, i64 %w_back, i64 %w
  %d_low = icmp sge i64 %d, 0
  %d_high = icmp slt i64 %d, %nd
  %d_is = and i1 %d_low, %d_high
  br i1 %d_is, label %over_it, label %ask
over_it:
  %d_next = add i64 %d, 1
  %d_length = call i64 @word(ptr %dims, i64 %d)
  %d_before = call i64 @span(ptr %dims, i64 0, i64 %d)
  %d_after = call i64 @span(ptr %dims, i64 %d_next, i64 %nd)
  store i64 %d, ptr %gone
  store i64 %d_length, ptr %length
  store i64 %d_before, ptr %items
  store i64 %d_after, ptr %after
  br label %next
keepdim:
  %False = load ptr, ptr @g_False
  %True = load ptr, ptr @g_True
  %k_not = icmp eq ptr %a, %False
  br i1 %k_not, label %next, label %k_look
k_look:
  %k_is = icmp eq ptr %a, %True
  store i1 true, ptr %keeping
  br i1 %k_is, label %next, label %ask
one_dimension:
  %o = call i64 @whole_number(ptr %a, i64 -2)
  %o_is = icmp eq i64 %o, 1
  br i1 %o_is, label %next, label %ask
one_size:
  %Tuple = load ptr, ptr @g_tuple
  %s_type = call ptr @at(ptr %a, i64 8)
  %s_is = icmp eq ptr %s_type, %Tuple
  br i1 %s_is, label %s_look, label %ask
s_look:
  %s_n = call i64 @word(ptr %a, i64 2)
  %s_one = icmp eq i64 %s_n, 1
  br i1 %s_one, label %s_read, label %ask
s_read:
  %s_item = call ptr @at(ptr %a, i64 24)
  %s = call i64 @whole_number(ptr %s_item, i64 -1)
  %s_fits = icmp eq i64 %s, %width
  br i1 %s_fits, label %next, label %ask
column:
  %bit_now = load i64, ptr %bit
  %bit_next = shl i64 %bit_now, 1
  store i64 %bit_next, ptr %bit
  %p_none = icmp eq ptr %a, %None
  br i1 %p_none, label %next, label %p_look
p_look:
  %p_fits = call i1 @fits(ptr %a, ptr %dtype)
  br i1 %p_fits, label %p_shape, label %ask
p_shape:
  %p_nd = call i64 @dimensions(ptr %a)
  %p_n = call i64 @elements(ptr %a)
  %p_line = icmp eq i64 %p_nd, 1
  %p_long = icmp eq i64 %p_n, %width
  %p_is = and i1 %p_line, %p_long
  br i1 %p_is, label %p_note, label %ask
p_note:
  %variant_now = load i64, ptr %variant
  %variant_with = or i64 %variant_now, %bit_now
  store i64 %variant_with, ptr %variant
  br label %push
number:
  %Float = load ptr, ptr @g_float
  %n_type = call ptr @at(ptr %a, i64 8)
  %n_is = icmp eq ptr %n_type, %Float
  br i1 %n_is, label %n_read, label %ask
n_read:
  %n_at = getelementptr i8, ptr %a, i64 16
  %n_value = load double, ptr %n_at
  %n_count = load i64, ptr %numbers_n
  %n_slot = getelementptr double, ptr %numbers, i64 %n_count
  store double %n_value, ptr %n_slot
  %n_more = add i64 %n_count, 1
  store i64 %n_more, ptr %numbers_n
  br label %next
scalars:
  %c_fits = call i1 @fits(ptr %a, ptr %dtype)
  br i1 %c_fits, label %c_count, label %ask
c_count:
  %c_n = call i64 @elements(ptr %a)
  %c_is = icmp eq i64 %c_n, %rows
  br i1 %c_is, label %push, label %ask
push:
  %p_count = load i64, ptr %inputs_n
  %p_slot = getelementptr ptr, ptr %inputs, i64 %p_count
  %p_data = call ptr @at(ptr %a, i64 16)
  store ptr %p_data, ptr %p_slot
  %p_more = add i64 %p_count, 1
  store i64 %p_more, ptr %inputs_n
  br label %next
next:
  %inext = add i64 %i, 1
  br label %read

choose:
  %beside = load i64, ptr %after
  %down = icmp sgt i64 %beside, 1
  %run_length = load i64, ptr %length
  %parts = load i64, ptr %items
  %grain = call i64 @word(ptr %g, i64 5)
  br i1 %down, label %few_columns, label %long_rows
few_columns:  ; as in Program.columns: where there are fewer parts than threads, each thread has its share of the columns
  store i64 1, ptr %variant
  %threads = load i64, ptr @pool_threads
  %widest = call i64 @llvm.smin.i64(i64 %beside, i64 1024)
  %up = add i64 %beside, %threads
  %up1 = sub i64 %up, 1
  %each_share = udiv i64 %up1, %threads
  %in_lines = add i64 %each_share, 63
  %lines = and i64 %in_lines, -64
  %shared = call i64 @llvm.smin.i64(i64 %lines, i64 1024)
  %scarce = icmp slt i64 %parts, %threads
  %narrow = select i1 %scarce, i64 %shared, i64 %widest
  %more_wide = add i64 %beside, %narrow
  %more_wide1 = sub i64 %more_wide, 1
  %tiles = udiv i64 %more_wide1, %narrow
  %column_items = mul i64 %parts, %tiles
  %tile_work = mul i64 %run_length, %narrow
  %tile_share = udiv i64 %grain, %tile_work
  %column_grain = call i64 @llvm.smax.i64(i64 %tile_share, i64 1)
  %context1 = getelementptr i64, ptr %context, i64 1
  %context2 = getelementptr i64, ptr %context, i64 2
  store i64 %beside, ptr %context1
  store i64 %narrow, ptr %context2
  br label %address
long_rows:  ; those are worked on in pieces
  %long = icmp sge i64 %run_length, 524288
  br i1 %long, label %ask, label %row_words
row_words:
  %share = udiv i64 %grain, %run_length
  %rows_grain = call i64 @llvm.smax.i64(i64 %share, i64 1)
  br label %address
address:
  %head = phi i64 [3, %few_columns], [1, %row_words]
  %count = phi i64 [%column_items, %few_columns], [%parts, %row_words]
  %piece = phi i64 [%column_grain, %few_columns], [%rows_grain, %row_words]
  store i64 %run_length, ptr %context
  %which = load i64, ptr %variant
  %line = shl i64 %dt, 2
  %place = add i64 %line, %which
  %f_at = add i64 %place, 16
  %function = call ptr @pointer(ptr %g, i64 %f_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %serve, label %results

results:
  %r_n = call i64 @word(ptr %g, i64 52)
  %gone_is = load i64, ptr %gone
  %cached_at = add i64 %dt, 48
  %cached_from = call i64 @word(ptr %g, i64 %cached_at)
  %cached = icmp sge i64 %total, %cached_from
  br label %result
result:
  %r = phi i64 [0, %results], [%rnext, %result_made]
  %r_end = icmp eq i64 %r, %r_n
  br i1 %r_end, label %arguments, label %result_one
result_one:
  %r_kind_at = add i64 %r, 40
  %r_usual = call i64 @word(ptr %g, i64 %r_kind_at)
  %keep = load i1, ptr %keeping
  %r_kind = select i1 %keep, i64 1, i64 %r_usual
  %new = call ptr @new_result(i64 %r_kind, ptr %data, ptr %dtype, i64 %gone_is, i1 %cached)
  %lost = icmp eq ptr %new, null
  br i1 %lost, label %undo, label %result_made
result_made:
  %m_slot = getelementptr ptr, ptr %made, i64 %r
  store ptr %new, ptr %m_slot
  %new_data = call ptr @at(ptr %new, i64 16)
  %r_place = add i64 %head, %r
  %r_slot = getelementptr ptr, ptr %context, i64 %r_place
  store ptr %new_data, ptr %r_slot
  %rnext = add i64 %r, 1
  br label %result
undo:
  %u = phi i64 [0, %result_one], [%unext, %undo_one]
  %u_end = icmp eq i64 %u, %r
  br i1 %u_end, label %fail, label %undo_one
undo_one:
  %u_made = call ptr @pointer(ptr %made, i64 %u)
  call void @Py_DecRef(ptr %u_made)
  %unext = add i64 %u, 1
  br label %undo
fail:
  ret ptr null

arguments:
  %in_n = load i64, ptr %inputs_n
  %in_head = add i64 %head, %r_n
  %num_head = add i64 %in_head, %in_n
  %num_n = load i64, ptr %numbers_n
  br label %input
input:
  %x = phi i64 [0, %arguments], [%xnext, %input_one]
  %x_end = icmp eq i64 %x, %in_n
  br i1 %x_end, label %figure, label %input_one
input_one:
  %x_value = call i64 @word(ptr %inputs, i64 %x)
  %x_place = add i64 %in_head, %x
  %x_slot = getelementptr i64, ptr %context, i64 %x_place
  store i64 %x_value, ptr %x_slot
  %xnext = add i64 %x, 1
  br label %input
figure:
  %y = phi i64 [0, %input], [%ynext, %figure_one]
  %y_end = icmp eq i64 %y, %num_n
  br i1 %y_end, label %work, label %figure_one
figure_one:
  %y_value = call i64 @word(ptr %numbers, i64 %y)
  %y_place = add i64 %num_head, %y
  %y_slot = getelementptr i64, ptr %context, i64 %y_place
  store i64 %y_value, ptr %y_slot
  %ynext = add i64 %y, 1
  br label %figure
work:
  call void @perform(ptr %function, ptr %context, i64 %count, i64 %piece)
  %answer0 = load ptr, ptr %made
  %all = call i64 @word(ptr %g, i64 53)
  %whole_answer = icmp ne i64 %all, 0
  br i1 %whole_answer, label %pack, label %rest
rest:
  %z = phi i64 [1, %work], [%znext, %rest_one]
  %z_end = icmp sge i64 %z, %r_n
  br i1 %z_end, label %done, label %rest_one
rest_one:
  %z_made = call ptr @pointer(ptr %made, i64 %z)
  call void @Py_DecRef(ptr %z_made)
  %znext = add i64 %z, 1
  br label %rest
done:
  ret ptr %answer0
pack:
  %tuple = call ptr @PyTuple_New(i64 %r_n)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %lose, label %item
lose:
  br label %lose_one
lose_one:
  %q = phi i64 [0, %lose], [%qnext, %lose_one]
  %q_made = call ptr @pointer(ptr %made, i64 %q)
  call void @Py_DecRef(ptr %q_made)
  %qnext = add i64 %q, 1
  %q_more = icmp slt i64 %qnext, %r_n
  br i1 %q_more, label %lose_one, label %fail
item:
  %v = phi i64 [0, %pack], [%vnext, %item]
  %v_made = call ptr @pointer(ptr %made, i64 %v)
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %v, ptr %v_made)
  %vnext = add i64 %v, 1
  %v_more = icmp slt i64 %vnext, %r_n
  br i1 %v_more, label %item, label %packed
packed:
  ret ptr %tuple

ask:
  %most = call i64 @elements(ptr %data)
  %serve_least = call i64 @word(ptr %g, i64 4)
  %no = icmp slt i64 %most, %serve_least
  br i1 %no, label %under, label %serve
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
