; Where the numbers of a view lie, from those of the array and a call's arguments: dimensions in another order, new ones, other shapes of
; what lies in one piece. selecting.ll has what an index selects; views.ll makes tensors of it.

; A geometry: 0 dimensions, 1 bytes from the array's beginning, from 8 on sizes, from 40 on steps in bytes.

; A dimension's number, counted from the front; -1 where there is none.
define i64 @which_dimension(ptr %object, i64 %nd) {
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

; Steps for sizes that a geometry has, over memory that does not lie in one piece: each run of the array's dimensions that do is cut
; into sizes. No size may be 1, whose step could be anything.
define internal i1 @cut_apart(ptr %array, ptr %geometry, i64 %count) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  br label %run
run:
  %left = phi i64 [%nd, %entry], [%d_here, %cut_done]
  %sizes_left = phi i64 [%count, %entry], [%k, %cut_done]
  %end = icmp eq i64 %left, 0
  br i1 %end, label %all, label %begin
begin:
  %d = sub i64 %left, 1
  %size = call i64 @word(ptr %dims, i64 %d)
  %step = call i64 @word(ptr %steps, i64 %d)
  %fine = icmp sgt i64 %size, 1
  br i1 %fine, label %join, label %no
join:
  %d_here = phi i64 [%d, %begin], [%before, %joined]
  %length = phi i64 [%size, %begin], [%longer, %joined]
  %first = icmp eq i64 %d_here, 0
  br i1 %first, label %cut, label %look
look:
  %before = sub i64 %d_here, 1
  %before_size = call i64 @word(ptr %dims, i64 %before)
  %before_step = call i64 @word(ptr %steps, i64 %before)
  %whole = mul i64 %length, %step
  %follows = icmp eq i64 %before_step, %whole
  br i1 %follows, label %joined, label %cut
joined:
  %longer = mul i64 %length, %before_size
  %before_fine = icmp sgt i64 %before_size, 1
  br i1 %before_fine, label %join, label %no
cut:
  %k = phi i64 [%sizes_left, %join], [%sizes_left, %look], [%k1, %piece]
  %product = phi i64 [1, %join], [1, %look], [%times, %piece]
  %enough = icmp sge i64 %product, %length
  br i1 %enough, label %cut_done, label %next
next:
  %none = icmp eq i64 %k, 0
  br i1 %none, label %no, label %piece
piece:
  %k1 = sub i64 %k, 1
  %k_at = add i64 %k1, 8
  %wanted = call i64 @word(ptr %geometry, i64 %k_at)
  %its_step = mul i64 %product, %step
  %times = mul i64 %product, %wanted
  call void @put_dimension(ptr %geometry, i64 %k1, i64 %wanted, i64 %its_step)
  %piece_fine = icmp sgt i64 %wanted, 1
  br i1 %piece_fine, label %cut, label %no
cut_done:
  %exact = icmp eq i64 %product, %length
  br i1 %exact, label %run, label %no
all:
  %used = icmp eq i64 %sizes_left, 0
  ret i1 %used
no:
  ret i1 false
}

; Another shape of an array that is not empty; one size may be -1.
define internal i1 @reshaped(ptr %array, ptr %items, i64 %count, ptr %geometry) {
entry:
  %total = call i64 @elements(ptr %array)
  %solid = call i1 @has_flags(ptr %array, i32 1)
  %some = icmp sgt i64 %total, 0
  %few = icmp slt i64 %count, 16
  %c = and i1 %some, %few
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
  br i1 %solid, label %in_one_piece, label %apart
apart:
  %fits = call i1 @cut_apart(ptr %array, ptr %geometry, i64 %count)
  ret i1 %fits
in_one_piece:
  %dtype = call ptr @at(ptr %array, i64 56)
  %itemsize = call i64 @word(ptr %dtype, i64 5)
  br label %step
step:
  %left = phi i64 [%count, %in_one_piece], [%k, %put]
  %so_far = phi i64 [%itemsize, %in_one_piece], [%so_far_next, %put]
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
