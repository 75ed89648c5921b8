; Views without the interpreter: parts by ints, slices, None and ..., other shapes of what lies in one piece, dimensions in another
; order. Nothing is copied, so that any dtype will do. A gradient is recorded by the rule in Python. Of a function's words (paths.ll)
; 32 says which view it makes, 33 the kernel that was last looked at, 34 whether that is the one which this file stands for, and 35
; the kernels by device of an operator in others, which must have none for the CPU.
;
; A geometry: 0 dimensions, 1 bytes from the array's beginning, from 8 on sizes, from 40 on steps in bytes.

@g_Ellipsis = global ptr null
@g_slice = global ptr null
@v_learn = global ptr null      ; a function that is told of another kernel
; Where a storage's fields lie, besides those that other files name.
@v_array_at = global i64 0
@v_key_at = global i64 0
@v_lent_at = global i64 0
@v_listing_at = global i64 0
@v_marked_at = global i64 0
@v_noting_at = global i64 0
@v_unlisted_at = global i64 0
@v_views_at = global i64 0

declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare i32 @PySlice_Unpack(ptr, ptr, ptr, ptr)
declare i64 @PySlice_AdjustIndices(i64, ptr, ptr, i64)
declare ptr @PyWeakref_NewRef(ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)

define internal void @set_word(ptr %words, i64 %index, i64 %value) alwaysinline {
  %p = getelementptr i64, ptr %words, i64 %index
  store i64 %value, ptr %p
  ret void
}

; Put a further reference to an object into a field that is still empty.
define internal void @first_value(ptr %object, ptr %place, ptr %value) alwaysinline {
  call void @Py_IncRef(ptr %value)
  call void @set_field(ptr %object, ptr %place, ptr %value)
  ret void
}

; The storage of an array that nobody has asked for one, as `Storage(array, CPU)` makes it.
define internal ptr @new_storage(ptr %array) {
entry:
  %views = call ptr @PyDict_New()
  %no_views = icmp eq ptr %views, null
  br i1 %no_views, label %lost, label %make
make:
  %Storage = load ptr, ptr @p_Storage
  %made = call ptr @PyType_GenericAlloc(ptr %Storage, i64 0)
  %none = icmp eq ptr %made, null
  br i1 %none, label %drop, label %fill
drop:
  call void @Py_DecRef(ptr %views)
  br label %lost
lost:
  ret ptr null
fill:
  %CPU = load ptr, ptr @p_CPU
  %False = load ptr, ptr @g_False
  %zero = load ptr, ptr @r_zero
  call void @first_value(ptr %made, ptr @v_array_at, ptr %array)
  call void @first_value(ptr %made, ptr @v_key_at, ptr %CPU)
  call void @first_value(ptr %made, ptr @p_version, ptr %zero)
  call void @first_value(ptr %made, ptr @u_guarded_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_lent_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_listing_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_marked_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_noting_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_unlisted_at, ptr %False)
  call void @set_field(ptr %made, ptr @v_views_at, ptr %views)
  ret ptr %made
}

; A dimension's number, counted from the front; -1 where there is none.
define internal i64 @which_dimension(ptr %object, i64 %nd) {
entry:
  %v = call i64 @whole_number(ptr %object, i64 -9223372036854775808)
  %other = icmp eq i64 %v, -9223372036854775808
  br i1 %other, label %no, label %look
look:
  %negative = icmp slt i64 %v, 0
  %wrapped = add i64 %v, %nd
  %d = select i1 %negative, i64 %wrapped, i64 %v
  %inside = icmp ult i64 %d, %nd
  br i1 %inside, label %yes, label %no
yes:
  ret i64 %d
no:
  ret i64 -1
}

define internal i1 @same_geometry(ptr %array, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  call void @set_word(ptr %geometry, i64 0, i64 %nd)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  %few = icmp slt i64 %nd, 16
  br i1 %few, label %each, label %no
each:
  %d = phi i64 [0, %entry], [%dnext, %one]
  %end = icmp eq i64 %d, %nd
  br i1 %end, label %yes, label %one
one:
  %size = call i64 @word(ptr %dims, i64 %d)
  %step = call i64 @word(ptr %steps, i64 %d)
  call void @put_dimension(ptr %geometry, i64 %d, i64 %size, i64 %step)
  %dnext = add i64 %d, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

define internal void @put_dimension(ptr %geometry, i64 %d, i64 %size, i64 %step) alwaysinline {
  %size_at = add i64 %d, 8
  %step_at = add i64 %d, 40
  call void @set_word(ptr %geometry, i64 %size_at, i64 %size)
  call void @set_word(ptr %geometry, i64 %step_at, i64 %step)
  ret void
}

; Two dimensions in each other's place.
define internal i1 @transposed(ptr %array, i64 %a, i64 %b, ptr %geometry) {
entry:
  %fits = call i1 @same_geometry(ptr %array, ptr %geometry)
  br i1 %fits, label %swap, label %no
swap:
  %size_a_at = add i64 %a, 8
  %size_b_at = add i64 %b, 8
  %step_a_at = add i64 %a, 40
  %step_b_at = add i64 %b, 40
  %size_a = call i64 @word(ptr %geometry, i64 %size_a_at)
  %size_b = call i64 @word(ptr %geometry, i64 %size_b_at)
  %step_a = call i64 @word(ptr %geometry, i64 %step_a_at)
  %step_b = call i64 @word(ptr %geometry, i64 %step_b_at)
  call void @put_dimension(ptr %geometry, i64 %a, i64 %size_b, i64 %step_b)
  call void @put_dimension(ptr %geometry, i64 %b, i64 %size_a, i64 %step_a)
  ret i1 true
no:
  ret i1 false
}

; The sizes or dimensions of a call: one tuple, or numbers one by one.
define internal ptr @listed(ptr %args, i64 %n, ptr %count) {
entry:
  %one = icmp eq i64 %n, 2
  %first = call ptr @at(ptr %args, i64 8)
  %rest = getelementptr ptr, ptr %args, i64 1
  %left = sub i64 %n, 1
  store i64 %left, ptr %count
  br i1 %one, label %look, label %plainly
look:
  %Tuple = load ptr, ptr @g_tuple
  %Size = load ptr, ptr @d_size
  %type = call ptr @at(ptr %first, i64 8)
  %is_tuple = icmp eq ptr %type, %Tuple
  %is_size = icmp eq ptr %type, %Size
  %either = or i1 %is_tuple, %is_size
  br i1 %either, label %inside, label %plainly
inside:
  %many = call i64 @word(ptr %first, i64 2)
  store i64 %many, ptr %count
  %items = getelementptr i8, ptr %first, i64 24
  ret ptr %items
plainly:
  ret ptr %rest
}

define internal i1 @permuted(ptr %array, ptr %items, i64 %count, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  %complete = icmp eq i64 %nd, %count
  %few = icmp slt i64 %nd, 16
  %fits = and i1 %complete, %few
  call void @set_word(ptr %geometry, i64 0, i64 %nd)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  br i1 %fits, label %each, label %no
each:
  %i = phi i64 [0, %entry], [%inext, %put]
  %seen = phi i64 [0, %entry], [%seen_next, %put]
  %end = icmp eq i64 %i, %nd
  br i1 %end, label %yes, label %one
one:
  %item = call ptr @pointer(ptr %items, i64 %i)
  %d = call i64 @which_dimension(ptr %item, i64 %nd)
  %wrong = icmp slt i64 %d, 0
  br i1 %wrong, label %no, label %new
new:
  %bit = shl i64 1, %d
  %before = and i64 %seen, %bit
  %seen_next = or i64 %seen, %bit
  %fresh = icmp eq i64 %before, 0
  br i1 %fresh, label %put, label %no
put:
  %size = call i64 @word(ptr %dims, i64 %d)
  %step = call i64 @word(ptr %steps, i64 %d)
  call void @put_dimension(ptr %geometry, i64 %i, i64 %size, i64 %step)
  %inext = add i64 %i, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; A new dimension of size 1 before that of this number; NumPy's steps there are 0.
define internal i1 @unsqueezed(ptr %array, ptr %item, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %more = add i64 %nd, 1
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  %few = icmp slt i64 %nd, 16
  call void @set_word(ptr %geometry, i64 0, i64 %more)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  br i1 %few, label %find, label %no
find:
  %d = call i64 @which_dimension(ptr %item, i64 %more)
  %wrong = icmp slt i64 %d, 0
  br i1 %wrong, label %no, label %new
new:
  call void @put_dimension(ptr %geometry, i64 %d, i64 1, i64 0)
  br label %each
each:
  %i = phi i64 [0, %new], [%inext, %one]
  %end = icmp eq i64 %i, %nd
  br i1 %end, label %yes, label %one
one:
  %size = call i64 @word(ptr %dims, i64 %i)
  %step = call i64 @word(ptr %steps, i64 %i)
  %behind = icmp sge i64 %i, %d
  %shift = zext i1 %behind to i64
  %place = add i64 %i, %shift
  call void @put_dimension(ptr %geometry, i64 %place, i64 %size, i64 %step)
  %inext = add i64 %i, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; Another shape of an array that lies in one piece and is not empty; one size may be -1.
define internal i1 @reshaped(ptr %array, ptr %items, i64 %count, ptr %geometry) {
entry:
  %total = call i64 @elements(ptr %array)
  %solid = call i1 @has_flags(ptr %array, i32 1)
  %some = icmp sgt i64 %total, 0
  %few = icmp slt i64 %count, 16
  %c0 = and i1 %solid, %some
  %c = and i1 %c0, %few
  call void @set_word(ptr %geometry, i64 0, i64 %count)
  call void @set_word(ptr %geometry, i64 1, i64 0)
  br i1 %c, label %each, label %no
each:
  %i = phi i64 [0, %entry], [%inext, %next]
  %product = phi i64 [1, %entry], [%product_next, %next]
  %open = phi i64 [-1, %entry], [%open_next, %next]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %all, label %one
one:
  %item = call ptr @pointer(ptr %items, i64 %i)
  %v = call i64 @whole_number(ptr %item, i64 -9223372036854775808)
  %other = icmp eq i64 %v, -9223372036854775808
  br i1 %other, label %no, label %look
look:
  %is_open = icmp eq i64 %v, -1
  br i1 %is_open, label %wanted, label %given
wanted:
  %first = icmp slt i64 %open, 0
  br i1 %first, label %next, label %no
given:  ; no product beyond the total, which cannot overflow
  %least = icmp sge i64 %v, 1
  %most = icmp sle i64 %v, %total
  %inside = and i1 %least, %most
  br i1 %inside, label %multiply, label %no
multiply:
  %by = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %product, i64 %v)
  %times = extractvalue {i64, i1} %by, 0
  %over = extractvalue {i64, i1} %by, 1
  call void @put_dimension(ptr %geometry, i64 %i, i64 %v, i64 0)
  br i1 %over, label %no, label %next
next:
  %product_next = phi i64 [%product, %wanted], [%times, %multiply]
  %open_next = phi i64 [%i, %wanted], [%open, %multiply]
  %inext = add i64 %i, 1
  br label %each
all:
  %found = icmp sge i64 %open, 0
  br i1 %found, label %divide, label %compare
divide:
  %rest = sdiv i64 %total, %product
  %back = mul i64 %rest, %product
  %divides = icmp eq i64 %back, %total
  call void @put_dimension(ptr %geometry, i64 %open, i64 %rest, i64 0)
  br i1 %divides, label %steps, label %no
compare:
  %agrees = icmp eq i64 %product, %total
  br i1 %agrees, label %steps, label %no
steps:
  %dtype = call ptr @at(ptr %array, i64 56)
  %itemsize = call i64 @word(ptr %dtype, i64 5)
  br label %step
step:
  %left = phi i64 [%count, %steps], [%k, %put]
  %so_far = phi i64 [%itemsize, %steps], [%so_far_next, %put]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %unchanged, label %put
put:
  %k = sub i64 %left, 1
  %k_at = add i64 %k, 8
  %size = call i64 @word(ptr %geometry, i64 %k_at)
  call void @put_dimension(ptr %geometry, i64 %k, i64 %size, i64 %so_far)
  %so_far_next = mul i64 %so_far, %size
  br label %step
unchanged:  ; the same shape has the same steps, whatever they are where a size is 1
  %nd = call i64 @dimensions(ptr %array)
  %one_rank = icmp eq i64 %nd, %count
  br i1 %one_rank, label %same, label %yes
same:
  %dims = call ptr @at(ptr %array, i64 32)
  br label %like
like:
  %j = phi i64 [0, %same], [%jnext, %like_next]
  %j_end = icmp eq i64 %j, %nd
  br i1 %j_end, label %keep, label %like_one
like_one:
  %j_at = add i64 %j, 8
  %mine = call i64 @word(ptr %geometry, i64 %j_at)
  %theirs = call i64 @word(ptr %dims, i64 %j)
  %equal = icmp eq i64 %mine, %theirs
  br i1 %equal, label %like_next, label %yes
like_next:
  %jnext = add i64 %j, 1
  br label %like
keep:
  %kept = call i1 @same_geometry(ptr %array, ptr %geometry)
  ret i1 %kept
yes:
  ret i1 true
no:
  ret i1 false
}

declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)

; Whether a slice has nothing but ints and None in it.
define internal i1 @plain_slice(ptr %slice) {
entry:
  %None = load ptr, ptr @g_None
  %Int = load ptr, ptr @g_int
  br label %each
each:
  %i = phi i64 [2, %entry], [%inext, %next]
  %end = icmp eq i64 %i, 5
  br i1 %end, label %yes, label %one
one:
  %v = call ptr @pointer(ptr %slice, i64 %i)
  %type = call ptr @at(ptr %v, i64 8)
  %none = icmp eq ptr %v, %None
  %int = icmp eq ptr %type, %Int
  %either = or i1 %none, %int
  br i1 %either, label %next, label %no
next:
  %inext = add i64 %i, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; The part that ints, slices, None and ... select.
define internal i1 @selected(ptr %array, ptr %index, ptr %geometry) {
entry:
  %single = alloca ptr
  %start_is = alloca i64
  %stop_is = alloca i64
  %step_is = alloca i64
  store ptr %index, ptr %single
  %None = load ptr, ptr @g_None
  %Ellipsis = load ptr, ptr @g_Ellipsis
  %Int = load ptr, ptr @g_int
  %Slice = load ptr, ptr @g_slice
  %Tuple = load ptr, ptr @g_tuple
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  %type = call ptr @at(ptr %index, i64 8)
  %several = icmp eq ptr %type, %Tuple
  br i1 %several, label %tuple, label %begin
tuple:
  %inside = getelementptr i8, ptr %index, i64 24
  %many = call i64 @word(ptr %index, i64 2)
  br label %begin
begin:
  %items = phi ptr [%single, %entry], [%inside, %tuple]
  %count = phi i64 [1, %entry], [%many, %tuple]
  %room = add i64 %count, %nd
  %few = icmp slt i64 %room, 31
  %some = icmp sgt i64 %count, 0
  %fits = and i1 %few, %some
  br i1 %fits, label %tally, label %no
tally:  ; how many dimensions are named
  %i = phi i64 [0, %begin], [%inext, %tallied]
  %used = phi i64 [0, %begin], [%used_next, %tallied]
  %dots = phi i64 [0, %begin], [%dots_next, %tallied]
  %i_end = icmp eq i64 %i, %count
  br i1 %i_end, label %enough, label %tally_one
tally_one:
  %t = call ptr @pointer(ptr %items, i64 %i)
  %t_type = call ptr @at(ptr %t, i64 8)
  %t_int = icmp eq ptr %t_type, %Int
  %t_slice = icmp eq ptr %t_type, %Slice
  %t_none = icmp eq ptr %t, %None
  %t_dots = icmp eq ptr %t, %Ellipsis
  %t_takes = or i1 %t_int, %t_slice
  %t_other = or i1 %t_none, %t_dots
  %t_known = or i1 %t_takes, %t_other
  br i1 %t_known, label %tallied, label %no
tallied:
  %t_one = zext i1 %t_takes to i64
  %t_dot = zext i1 %t_dots to i64
  %used_next = add i64 %used, %t_one
  %dots_next = add i64 %dots, %t_dot
  %inext = add i64 %i, 1
  br label %tally
enough:
  %not_more = icmp sle i64 %used, %nd
  %one_dots = icmp sle i64 %dots, 1
  %left = sub i64 %nd, %used
  %good = and i1 %not_more, %one_dots
  br i1 %good, label %each, label %no

each:
  %k = phi i64 [0, %enough], [%knext, %next]
  %dim = phi i64 [0, %enough], [%dim_next, %next]
  %rank = phi i64 [0, %enough], [%rank_next, %next]
  %offset = phi i64 [0, %enough], [%offset_next, %next]
  %k_end = icmp eq i64 %k, %count
  br i1 %k_end, label %remaining, label %one
one:
  %item = call ptr @pointer(ptr %items, i64 %k)
  %item_type = call ptr @at(ptr %item, i64 8)
  %is_none = icmp eq ptr %item, %None
  br i1 %is_none, label %new_dimension, label %not_none
new_dimension:
  call void @put_dimension(ptr %geometry, i64 %rank, i64 1, i64 0)
  %rank_new = add i64 %rank, 1
  br label %next
not_none:
  %is_dots = icmp eq ptr %item, %Ellipsis
  br i1 %is_dots, label %all_of, label %takes
all_of:
  %after = add i64 %dim, %left
  br label %copy
copy:
  %c_dim = phi i64 [%dim, %all_of], [%c_dim_next, %copy_one]
  %c_rank = phi i64 [%rank, %all_of], [%c_rank_next, %copy_one]
  %c_end = icmp eq i64 %c_dim, %after
  br i1 %c_end, label %next, label %copy_one
copy_one:
  %c_size = call i64 @word(ptr %dims, i64 %c_dim)
  %c_step = call i64 @word(ptr %steps, i64 %c_dim)
  call void @put_dimension(ptr %geometry, i64 %c_rank, i64 %c_size, i64 %c_step)
  %c_dim_next = add i64 %c_dim, 1
  %c_rank_next = add i64 %c_rank, 1
  br label %copy
takes:
  %size = call i64 @word(ptr %dims, i64 %dim)
  %step = call i64 @word(ptr %steps, i64 %dim)
  %dim_after = add i64 %dim, 1
  %is_int = icmp eq ptr %item_type, %Int
  br i1 %is_int, label %place, label %slice
place:
  %d = call i64 @which_dimension(ptr %item, i64 %size)
  %outside = icmp slt i64 %d, 0
  %p_bytes = mul i64 %d, %step
  %p_offset = add i64 %offset, %p_bytes
  br i1 %outside, label %no, label %next
slice:
  %plain = call i1 @plain_slice(ptr %item)
  br i1 %plain, label %unpack, label %no
unpack:
  %unpacked = call i32 @PySlice_Unpack(ptr %item, ptr %start_is, ptr %stop_is, ptr %step_is)
  %failed = icmp slt i32 %unpacked, 0
  br i1 %failed, label %clear, label %bounds
bounds:
  %by = load i64, ptr %step_is
  %forward = icmp sgt i64 %by, 0
  br i1 %forward, label %adjust, label %no
adjust:
  %length = call i64 @PySlice_AdjustIndices(i64 %size, ptr %start_is, ptr %stop_is, i64 %by)
  %nothing = icmp sle i64 %length, 0
  %start = load i64, ptr %start_is
  %from = select i1 %nothing, i64 0, i64 %start
  %each_by = select i1 %nothing, i64 1, i64 %by
  %kept = select i1 %nothing, i64 0, i64 %length
  %s_step = mul i64 %step, %each_by
  %s_bytes = mul i64 %step, %from
  %s_offset = add i64 %offset, %s_bytes
  call void @put_dimension(ptr %geometry, i64 %rank, i64 %kept, i64 %s_step)
  %s_rank = add i64 %rank, 1
  br label %next
next:
  %dim_next = phi i64 [%dim, %new_dimension], [%after, %copy], [%dim_after, %place], [%dim_after, %adjust]
  %rank_next = phi i64 [%rank_new, %new_dimension], [%c_rank, %copy], [%rank, %place], [%s_rank, %adjust]
  %offset_next = phi i64 [%offset, %new_dimension], [%offset, %copy], [%p_offset, %place], [%s_offset, %adjust]
  %knext = add i64 %k, 1
  br label %each
remaining:
  %r_dim = phi i64 [%dim, %each], [%r_dim_next, %remaining_one]
  %r_rank = phi i64 [%rank, %each], [%r_rank_next, %remaining_one]
  %r_end = icmp eq i64 %r_dim, %nd
  br i1 %r_end, label %done, label %remaining_one
remaining_one:
  %r_size = call i64 @word(ptr %dims, i64 %r_dim)
  %r_step = call i64 @word(ptr %steps, i64 %r_dim)
  call void @put_dimension(ptr %geometry, i64 %r_rank, i64 %r_size, i64 %r_step)
  %r_dim_next = add i64 %r_dim, 1
  %r_rank_next = add i64 %r_rank, 1
  br label %remaining
done:
  call void @set_word(ptr %geometry, i64 0, i64 %r_rank)
  call void @set_word(ptr %geometry, i64 1, i64 %offset)
  ret i1 true
clear:
  call void @PyErr_Clear()
  br label %no
no:
  ret i1 false
}

; The geometry of a call, and in `told` what the rule for its gradient is told beside the result and the tensor: how many arguments,
; -1 where Python has to see, -2 for a tuple of all sizes.
define internal i64 @geometry_of(i64 %kind, ptr %array, ptr %args, i64 %n, ptr %geometry) {
entry:
  %count_is = alloca i64
  %nd = call i64 @dimensions(ptr %array)
  %first = getelementptr ptr, ptr %args, i64 1
  switch i64 %kind, label %no [
    i64 16, label %item
    i64 17, label %view
    i64 18, label %transpose
    i64 19, label %unsqueeze
    i64 20, label %permute
    i64 21, label %t
    i64 22, label %select
  ]
item:
  %item_count = icmp eq i64 %n, 2
  br i1 %item_count, label %item_it, label %no
item_it:
  %index = load ptr, ptr %first
  %item_fits = call i1 @selected(ptr %array, ptr %index, ptr %geometry)
  br i1 %item_fits, label %one, label %no
view:
  %view_some = icmp sgt i64 %n, 1
  br i1 %view_some, label %view_it, label %no
view_it:
  %sizes = call ptr @listed(ptr %args, i64 %n, ptr %count_is)
  %size_count = load i64, ptr %count_is
  %view_fits = call i1 @reshaped(ptr %array, ptr %sizes, i64 %size_count, ptr %geometry)
  br i1 %view_fits, label %several, label %no
transpose:
  %transpose_count = icmp eq i64 %n, 3
  br i1 %transpose_count, label %transpose_it, label %no
transpose_it:
  %o0 = call ptr @pointer(ptr %args, i64 1)
  %o1 = call ptr @pointer(ptr %args, i64 2)
  %d0 = call i64 @which_dimension(ptr %o0, i64 %nd)
  %d1 = call i64 @which_dimension(ptr %o1, i64 %nd)
  %either = or i64 %d0, %d1
  %both = icmp sge i64 %either, 0
  br i1 %both, label %transpose_fits, label %no
transpose_fits:
  %transposed = call i1 @transposed(ptr %array, i64 %d0, i64 %d1, ptr %geometry)
  br i1 %transposed, label %two, label %no
unsqueeze:
  %unsqueeze_count = icmp eq i64 %n, 2
  br i1 %unsqueeze_count, label %unsqueeze_it, label %no
unsqueeze_it:
  %where = load ptr, ptr %first
  %unsqueezed = call i1 @unsqueezed(ptr %array, ptr %where, ptr %geometry)
  br i1 %unsqueezed, label %one, label %no
permute:
  %permute_some = icmp sgt i64 %n, 1
  br i1 %permute_some, label %permute_it, label %no
permute_it:
  %order = call ptr @listed(ptr %args, i64 %n, ptr %count_is)
  %order_count = load i64, ptr %count_is
  %permuted = call i1 @permuted(ptr %array, ptr %order, i64 %order_count, ptr %geometry)
  br i1 %permuted, label %several, label %no
t:
  %t_count = icmp eq i64 %n, 1
  %t_rank = icmp eq i64 %nd, 2
  %t_both = and i1 %t_count, %t_rank
  br i1 %t_both, label %t_it, label %no
t_it:
  %turned = call i1 @transposed(ptr %array, i64 0, i64 1, ptr %geometry)
  br i1 %turned, label %nothing, label %no
select:
  %select_count = icmp eq i64 %n, 3
  br i1 %select_count, label %select_it, label %no
select_it:
  %along = call ptr @pointer(ptr %args, i64 1)
  %place = call ptr @pointer(ptr %args, i64 2)
  %dim = call i64 @which_dimension(ptr %along, i64 %nd)
  %no_dim = icmp slt i64 %dim, 0
  br i1 %no_dim, label %no, label %select_place
select_place:
  %selected = call i1 @without(ptr %array, i64 %dim, ptr %place, ptr %geometry)
  br i1 %selected, label %two, label %no
nothing:
  ret i64 0
one:
  ret i64 1
two:
  ret i64 2
several:
  ret i64 -2
no:
  ret i64 -1
}

; One place of a dimension, which is dropped.
define internal i1 @without(ptr %array, i64 %dim, ptr %place, ptr %geometry) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %rank = sub i64 %nd, 1
  %fits = call i1 @same_geometry(ptr %array, ptr %geometry)
  br i1 %fits, label %find, label %no
find:
  %size_at = add i64 %dim, 8
  %step_at = add i64 %dim, 40
  %size = call i64 @word(ptr %geometry, i64 %size_at)
  %step = call i64 @word(ptr %geometry, i64 %step_at)
  %d = call i64 @which_dimension(ptr %place, i64 %size)
  %outside = icmp slt i64 %d, 0
  %bytes = mul i64 %d, %step
  call void @set_word(ptr %geometry, i64 0, i64 %rank)
  call void @set_word(ptr %geometry, i64 1, i64 %bytes)
  br i1 %outside, label %no, label %each
each:
  %i = phi i64 [%dim, %find], [%inext, %move]
  %end = icmp eq i64 %i, %rank
  br i1 %end, label %yes, label %move
move:
  %inext = add i64 %i, 1
  %from_size = add i64 %i, 9
  %from_step = add i64 %i, 41
  %s = call i64 @word(ptr %geometry, i64 %from_size)
  %b = call i64 @word(ptr %geometry, i64 %from_step)
  call void @put_dimension(ptr %geometry, i64 %i, i64 %s, i64 %b)
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; An array on another's memory.
define internal ptr @array_view(ptr %array, ptr %geometry) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %nd = call i64 @word(ptr %geometry, i64 0)
  %offset = call i64 @word(ptr %geometry, i64 1)
  %dims = getelementptr i64, ptr %geometry, i64 8
  %steps = getelementptr i64, ptr %geometry, i64 40
  %rank = trunc i64 %nd to i32
  %data0 = call ptr @at(ptr %array, i64 16)
  %data = getelementptr i8, ptr %data0, i64 %offset
  %dtype = call ptr @at(ptr %array, i64 56)
  %flags_at = getelementptr i8, ptr %array, i64 64
  %all_flags = load i32, ptr %flags_at
  %flags = and i32 %all_flags, 1024  ; whether it may be written; the others NumPy finds by itself
  call void @Py_IncRef(ptr %dtype)
  %made = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr %steps, ptr %data, i32 %flags, ptr null)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %fail, label %hold
hold:
  call void @Py_IncRef(ptr %array)
  %held = call i32 @PyArray_SetBaseObject(ptr %made, ptr %array)
  %failed = icmp slt i32 %held, 0
  br i1 %failed, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %made)
  br label %fail
done:
  ret ptr %made
fail:
  ret ptr null
}

; Whether the kernel which the CPU has for this operator is the one that this file stands for.
define internal i1 @stands_for(ptr %words) {
entry:
  %told = alloca [2 x ptr]
  %CPU = load ptr, ptr @p_CPU
  %kernels = call ptr @pointer(ptr %words, i64 2)
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %unknown = icmp eq ptr %k, null
  br i1 %unknown, label %no, label %known
known:
  %last = call ptr @pointer(ptr %words, i64 33)
  %seen = icmp eq ptr %last, %k
  br i1 %seen, label %judge, label %learn
learn:
  %learner = load ptr, ptr @v_learn
  %where_int = ptrtoint ptr %words to i64
  %where = call ptr @PyLong_FromSsize_t(i64 %where_int)
  %lost = icmp eq ptr %where, null
  br i1 %lost, label %clear, label %tell
tell:
  %told1 = getelementptr ptr, ptr %told, i64 1
  store ptr %where, ptr %told
  store ptr %k, ptr %told1
  %answered = call ptr @PyObject_Vectorcall(ptr %learner, ptr %told, i64 2, ptr null)
  call void @Py_DecRef(ptr %where)
  %unanswered = icmp eq ptr %answered, null
  br i1 %unanswered, label %clear, label %drop
drop:
  call void @Py_DecRef(ptr %answered)
  br label %judge
judge:
  %good = call i64 @word(ptr %words, i64 34)
  %is_good = icmp eq i64 %good, 1
  br i1 %is_good, label %beside, label %no
beside:
  %others = call ptr @pointer(ptr %words, i64 35)
  %alone = icmp eq ptr %others, null
  br i1 %alone, label %yes, label %look
look:
  %other = call ptr @PyDict_GetItemWithError(ptr %others, ptr %CPU)
  %None = load ptr, ptr @g_None
  %none = icmp eq ptr %other, %None
  br i1 %none, label %yes, label %no
clear:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; The tensor of a view of another tensor, with the array whose reference it takes; null with an error.
define internal ptr @tensor_view(ptr %tensor, ptr %array) {
entry:
  %None = load ptr, ptr @g_None
  %known = call ptr @field(ptr %tensor, ptr @p_storage)
  %unknown = icmp eq ptr %known, %None
  br i1 %unknown, label %make, label %have
make:
  %whole = call ptr @field(ptr %tensor, ptr @p_array)
  %new = call ptr @new_storage(ptr %whole)
  %lost = icmp eq ptr %new, null
  br i1 %lost, label %drop_array, label %put
drop_array:
  call void @Py_DecRef(ptr %array)
  ret ptr null
put:
  call void @replace(ptr %tensor, ptr @p_storage, ptr %new)
  br label %have
have:
  %storage = phi ptr [%known, %entry], [%new, %put]
  %t = call ptr @new_tensor(ptr %array)
  %no_tensor = icmp eq ptr %t, null
  br i1 %no_tensor, label %fail, label %fill
fill:
  %own_base = call ptr @field(ptr %tensor, ptr @p_base)
  %is_base = icmp eq ptr %own_base, %None
  %base = select i1 %is_base, ptr %tensor, ptr %own_base
  call void @Py_IncRef(ptr %storage)
  call void @Py_IncRef(ptr %base)
  call void @replace(ptr %t, ptr @p_storage, ptr %storage)
  call void @replace(ptr %t, ptr @p_base, ptr %base)
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  br i1 %free, label %unlisted, label %list
unlisted:
  %True = load ptr, ptr @g_True
  call void @Py_IncRef(ptr %True)
  call void @replace(ptr %storage, ptr @v_unlisted_at, ptr %True)
  ret ptr %t
list:
  %views = call ptr @field(ptr %storage, ptr @v_views_at)
  %place_int = ptrtoint ptr %t to i64
  %place = call ptr @PyLong_FromSsize_t(i64 %place_int)
  %no_place = icmp eq ptr %place, null
  br i1 %no_place, label %drop, label %refer
refer:
  %weak = call ptr @PyWeakref_NewRef(ptr %t, ptr null)
  %no_weak = icmp eq ptr %weak, null
  br i1 %no_weak, label %drop_place, label %enter
enter:
  %entered = call i32 @PyDict_SetItem(ptr %views, ptr %place, ptr %weak)
  call void @Py_DecRef(ptr %weak)
  call void @Py_DecRef(ptr %place)
  %failed = icmp slt i32 %entered, 0
  br i1 %failed, label %drop, label %done
done:
  ret ptr %t
drop_place:
  call void @Py_DecRef(ptr %place)
  br label %drop
drop:
  call void @Py_DecRef(ptr %t)
  br label %fail
fail:
  ret ptr null
}

; Let the rule in Python give a view its node; false with an error.
define internal i1 @attach_view(ptr %rule, ptr %t, ptr %args, i64 %n, i64 %told) {
entry:
  %given = alloca [5 x ptr]
  %count_is = alloca i64
  %tensor = load ptr, ptr %args
  %slot1 = getelementptr ptr, ptr %given, i64 1
  %slot2 = getelementptr ptr, ptr %given, i64 2
  store ptr %t, ptr %given
  store ptr %tensor, ptr %slot1
  call void @Py_IncRef(ptr %rule)  ; the first use of a rule puts another in its place
  %listed = icmp eq i64 %told, -2
  br i1 %listed, label %list, label %plain
plain:
  %p = phi i64 [0, %entry], [%pnext, %plain_one]
  %p_end = icmp eq i64 %p, %told
  br i1 %p_end, label %call_plain, label %plain_one
plain_one:
  %pnext = add i64 %p, 1
  %value = call ptr @pointer(ptr %args, i64 %pnext)
  %p_slot = getelementptr ptr, ptr %slot1, i64 %pnext
  store ptr %value, ptr %p_slot
  br label %plain
call_plain:
  %p_count = add i64 %told, 2
  br label %call
list:
  %items = call ptr @listed(ptr %args, i64 %n, ptr %count_is)
  %count = load i64, ptr %count_is
  %tuple = call ptr @PyTuple_New(i64 %count)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %fail, label %fill
fill:
  %i = phi i64 [0, %list], [%inext, %fill_one]
  %i_end = icmp eq i64 %i, %count
  br i1 %i_end, label %call, label %fill_one
fill_one:
  %item = call ptr @pointer(ptr %items, i64 %i)
  call void @Py_IncRef(ptr %item)
  %item_at = add i64 %i, 3
  %item_slot = getelementptr ptr, ptr %tuple, i64 %item_at
  store ptr %item, ptr %item_slot
  %inext = add i64 %i, 1
  br label %fill
call:
  %m = phi i64 [%p_count, %call_plain], [3, %fill]
  %own = phi ptr [null, %call_plain], [%tuple, %fill]
  %owns = icmp ne ptr %own, null
  br i1 %owns, label %with_tuple, label %perform
with_tuple:
  store ptr %own, ptr %slot2
  br label %perform
perform:
  %answer = call ptr @PyObject_Vectorcall(ptr %rule, ptr %given, i64 %m, ptr null)
  br i1 %owns, label %drop_tuple, label %look
drop_tuple:
  call void @Py_DecRef(ptr %own)
  br label %look
look:
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %fail, label %done
done:
  call void @Py_DecRef(ptr %answer)
  call void @Py_DecRef(ptr %rule)
  ret i1 true
fail:
  call void @Py_DecRef(ptr %rule)
  ret i1 false
}

; Whether a view of this tensor may be made just so: its storage needs to look at no view.
define internal i1 @unobserved(ptr %tensor) {
entry:
  %None = load ptr, ptr @g_None
  %storage = call ptr @field(ptr %tensor, ptr @p_storage)
  %base = call ptr @field(ptr %tensor, ptr @p_base)
  %unset1 = icmp eq ptr %storage, null
  %unset2 = icmp eq ptr %base, null
  %unset = or i1 %unset1, %unset2
  br i1 %unset, label %no, label %has
has:
  %none = icmp eq ptr %storage, %None
  br i1 %none, label %yes, label %kind
kind:
  %Storage = load ptr, ptr @p_Storage
  %of = call ptr @at(ptr %storage, i64 8)
  %known = icmp eq ptr %of, %Storage
  br i1 %known, label %ask, label %no
ask:
  %False = load ptr, ptr @g_False
  %noting = call ptr @field(ptr %storage, ptr @v_noting_at)
  %views = call ptr @field(ptr %storage, ptr @v_views_at)
  %quiet = icmp eq ptr %noting, %False
  %listed = icmp ne ptr %views, null
  %fine = and i1 %quiet, %listed
  br i1 %fine, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal ptr @view_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %geometry = alloca [72 x i64]
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s1 = call i64 @word(ptr %flags, i64 1)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s01 = or i64 %s0, %s1
  %s = or i64 %s01, %s2
  %usual = icmp eq i64 %s, 0
  %unnamed = icmp eq ptr %names, null
  %some = icmp sgt i64 %n, 0
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %some
  br i1 %c, label %source, label %slow
source:
  %tensor = load ptr, ptr %args
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %read, label %slow
read:
  %array = call ptr @plain_array(ptr %tensor, i32 0)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %slow, label %memory
memory:
  %quiet = call i1 @unobserved(ptr %tensor)
  br i1 %quiet, label %graph, label %slow
graph:
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  br i1 %free, label %kernel, label %find_rule
find_rule:
  %attach_name = call ptr @pointer(ptr %words, i64 4)
  %no_rule = icmp eq ptr %attach_name, null
  br i1 %no_rule, label %slow, label %look_up
look_up:
  %globals = load ptr, ptr @p_globals
  %attach = call ptr @PyDict_GetItemWithError(ptr %globals, ptr %attach_name)
  %no_attach = icmp eq ptr %attach, null
  br i1 %no_attach, label %slow, label %kernel
kernel:
  %rule = phi ptr [null, %graph], [%attach, %look_up]
  %ours = call i1 @stands_for(ptr %words)
  br i1 %ours, label %shape, label %slow
shape:
  %kind = call i64 @word(ptr %words, i64 32)
  %told = call i64 @geometry_of(i64 %kind, ptr %array, ptr %args, i64 %n, ptr %geometry)
  %other = icmp eq i64 %told, -1
  br i1 %other, label %slow, label %make
make:
  %view = call ptr @array_view(ptr %array, ptr %geometry)
  %no_view = icmp eq ptr %view, null
  br i1 %no_view, label %clear, label %wrap
clear:
  call void @PyErr_Clear()
  br label %slow
wrap:
  %t = call ptr @tensor_view(ptr %tensor, ptr %view)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %fail, label %record
record:
  br i1 %free, label %done, label %attach_it
attach_it:
  %attached = call i1 @attach_view(ptr %rule, ptr %t, ptr %args, i64 %n, i64 %told)
  br i1 %attached, label %done, label %drop
done:
  ret ptr %t
drop:
  call void @Py_DecRef(ptr %t)
  br label %fail
fail:
  ret ptr null
slow:
  %ordinary = load ptr, ptr @p_ordinary
  %usual_way = call ptr %ordinary(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
