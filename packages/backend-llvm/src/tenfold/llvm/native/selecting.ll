; The part of an array that ints, slices, None and ... select.

@g_Ellipsis = global ptr null
@g_slice = global ptr null

declare i32 @PySlice_Unpack(ptr, ptr, ptr, ptr)
declare i64 @PySlice_AdjustIndices(i64, ptr, ptr, i64)

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
