; Arrays whose numbers lie side by side in some order of their dimensions: images channels last, transposed matrices. What is done
; to each number by itself is done to them as they lie, and the result lies as they do.

; Whether an array is aligned and lies in one piece, its dimensions in any order; those of size 1 lie where channels last has them,
; where it is not row by row.
define i1 @is_dense(ptr %array) {
entry:
  %aligned = call i1 @has_flags(ptr %array, i32 256)
  br i1 %aligned, label %order, label %no
order:
  %rows = call i1 @has_flags(ptr %array, i32 1)
  br i1 %rows, label %yes, label %rank
rank:
  %nd = call i64 @dimensions(ptr %array)
  %few = icmp sle i64 %nd, 8
  br i1 %few, label %begin, label %no
begin:
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  %dtype = call ptr @at(ptr %array, i64 56)
  %size = call i64 @word(ptr %dtype, i64 5)
  br label %each
each:  ; look for the dimension that comes next, from the innermost on
  %k = phi i64 [0, %begin], [%knext, %taken]
  %step = phi i64 [%size, %begin], [%wider, %taken]
  %all = icmp eq i64 %k, %nd
  br i1 %all, label %yes, label %search
search:
  %d = phi i64 [0, %each], [%dnext, %other]
  %none = icmp eq i64 %d, %nd
  br i1 %none, label %no, label %look
look:
  %length = call i64 @word(ptr %dims, i64 %d)
  %its = call i64 @word(ptr %steps, i64 %d)
  %several = icmp sgt i64 %length, 1
  %fits = icmp eq i64 %its, %step
  %is = and i1 %several, %fits
  %dnext = add i64 %d, 1
  br i1 %is, label %taken, label %other
other:
  %single = icmp eq i64 %length, 1
  br i1 %single, label %images, label %search
images:
  %last = call i1 @is_channels_last(ptr %array)
  ret i1 %last
taken:
  %wider = mul i64 %step, %length
  %knext = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether images or volumes lie channels last, those dimensions counted that have one place.
define i1 @is_channels_last(ptr %array) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %four = icmp eq i64 %nd, 4
  %five = icmp eq i64 %nd, 5
  %ranks = or i1 %four, %five
  br i1 %ranks, label %begin, label %no
begin:
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  %dtype = call ptr @at(ptr %array, i64 56)
  %size = call i64 @word(ptr %dtype, i64 5)
  %channels = call i64 @word(ptr %dims, i64 1)
  %channel = call i64 @word(ptr %steps, i64 1)
  %pixel = mul i64 %size, %channels
  %beside = icmp eq i64 %channel, %size
  br i1 %beside, label %each, label %no
each:
  %k = phi i64 [%nd, %begin], [%d, %fine]
  %step = phi i64 [%pixel, %begin], [%wider, %fine]
  %d = sub i64 %k, 1
  %outermost = icmp eq i64 %d, 1
  %at = select i1 %outermost, i64 0, i64 %d
  %length = call i64 @word(ptr %dims, i64 %at)
  %its = call i64 @word(ptr %steps, i64 %at)
  %fits = icmp eq i64 %its, %step
  %wider = mul i64 %step, %length
  br i1 %fits, label %fine, label %no
fine:
  br i1 %outermost, label %yes, label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether two arrays of one shape, either of which is dense, have their numbers in one order.
define i1 @laid_alike(ptr %a, ptr %b) {
entry:
  %a_rows = call i1 @has_flags(ptr %a, i32 1)
  %b_rows = call i1 @has_flags(ptr %b, i32 1)
  %both = and i1 %a_rows, %b_rows
  br i1 %both, label %yes, label %begin
begin:
  %nd = call i64 @dimensions(ptr %a)
  %a_steps = call ptr @at(ptr %a, i64 40)
  %b_steps = call ptr @at(ptr %b, i64 40)
  %a_dtype = call ptr @at(ptr %a, i64 56)
  %b_dtype = call ptr @at(ptr %b, i64 56)
  %a_size = call i64 @word(ptr %a_dtype, i64 5)
  %b_size = call i64 @word(ptr %b_dtype, i64 5)
  br label %each
each:
  %d = phi i64 [0, %begin], [%dnext, %one]
  %end = icmp eq i64 %d, %nd
  br i1 %end, label %yes, label %one
one:
  %x = call i64 @word(ptr %a_steps, i64 %d)
  %y = call i64 @word(ptr %b_steps, i64 %d)
  %xs = mul i64 %x, %b_size
  %ys = mul i64 %y, %a_size
  %same = icmp eq i64 %xs, %ys
  %dnext = add i64 %d, 1
  br i1 %same, label %each, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; The steps that a dense array of another dtype has, to `steps`; null where it lies row by row.
define internal ptr @steps_like(ptr %array, ptr %dtype, ptr %steps) {
entry:
  %rows = call i1 @has_flags(ptr %array, i32 1)
  br i1 %rows, label %usual, label %begin
usual:
  ret ptr null
begin:
  %nd = call i64 @dimensions(ptr %array)
  %its = call ptr @at(ptr %array, i64 40)
  %own = call ptr @at(ptr %array, i64 56)
  %from = call i64 @word(ptr %own, i64 5)
  %to = call i64 @word(ptr %dtype, i64 5)
  br label %each
each:
  %d = phi i64 [0, %begin], [%dnext, %one]
  %end = icmp eq i64 %d, %nd
  br i1 %end, label %done, label %one
one:
  %step = call i64 @word(ptr %its, i64 %d)
  %places = sdiv i64 %step, %from
  %wide = mul i64 %places, %to
  call void @set_word(ptr %steps, i64 %d, i64 %wide)
  %dnext = add i64 %d, 1
  br label %each
done:
  ret ptr %steps
}

; The dimensions of an array that lies row by row with gaps, or is expanded, as three words each, the innermost first: its length,
; how many elements of an array in one piece its places are apart, and its step in bytes. Neighbours that are one are one there.
; How many there are; 0 where it lies otherwise, and where there are more than 5.
define i64 @rows_of(ptr %array, ptr %room) {
entry:
  %aligned = call i1 @has_flags(ptr %array, i32 256)
  br i1 %aligned, label %begin, label %no
begin:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %steps = call ptr @at(ptr %array, i64 40)
  br label %each
each:
  %d = phi i64 [%nd, %begin], [%this, %next]
  %count = phi i64 [0, %begin], [%count1, %next]
  %apart = phi i64 [1, %begin], [%apart1, %next]
  %least = phi i64 [0, %begin], [%least1, %next]
  %end = icmp eq i64 %d, 0
  br i1 %end, label %done, label %one
one:
  %this = sub i64 %d, 1
  %length = call i64 @word(ptr %dims, i64 %this)
  %step = call i64 @word(ptr %steps, i64 %this)
  %single = icmp eq i64 %length, 1
  %still = icmp eq i64 %step, 0
  %outside = icmp sge i64 %step, %least
  %fine = or i1 %still, %outside
  br i1 %fine, label %in_order, label %no
in_order:
  %least1 = select i1 %still, i64 %least, i64 %step
  br i1 %single, label %next, label %merge
merge:
  %apart2 = mul i64 %apart, %length
  %first = icmp eq i64 %count, 0
  br i1 %first, label %add, label %before
before:
  %last = sub i64 %count, 1
  %last_at = mul i64 %last, 3
  %last_step_at = add i64 %last_at, 2
  %last_length = call i64 @word(ptr %room, i64 %last_at)
  %last_step = call i64 @word(ptr %room, i64 %last_step_at)
  %reach = mul i64 %last_length, %last_step
  %continues = icmp eq i64 %reach, %step
  br i1 %continues, label %longer, label %add
longer:
  %together = mul i64 %last_length, %length
  call void @set_word(ptr %room, i64 %last_at, i64 %together)
  br label %next
add:
  %full = icmp eq i64 %count, 5
  br i1 %full, label %no, label %put
put:
  %at = mul i64 %count, 3
  %at1 = add i64 %at, 1
  %at2 = add i64 %at, 2
  call void @set_word(ptr %room, i64 %at, i64 %length)
  call void @set_word(ptr %room, i64 %at1, i64 %apart)
  call void @set_word(ptr %room, i64 %at2, i64 %step)
  %more = add i64 %count, 1
  br label %next
next:
  %count1 = phi i64 [%count, %in_order], [%count, %longer], [%more, %put]
  %apart1 = phi i64 [%apart, %in_order], [%apart2, %longer], [%apart2, %put]
  br label %each
done:
  ret i64 %count
no:
  ret i64 0
}

; What loops.py's strided loops read of such an array's dimensions, where the result and the other arrays lie row by row; elements
; of the result have `size` bytes, those of the arrays `sizes`. At most 4 arrays.
define internal void @write_rows(ptr %goal, ptr %array, i64 %place, i64 %arrays, i64 %size, ptr %sizes) {
entry:
  %room = alloca [15 x i64]
  %count = call i64 @rows_of(ptr %array, ptr %room)
  %outer = sub i64 %count, 1
  br label %each
each:
  %k = phi i64 [0, %entry], [%knext, %placed]
  %g = phi ptr [%goal, %entry], [%gnext, %placed]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %done, label %one
one:
  %at = mul i64 %k, 3
  %at1 = add i64 %at, 1
  %at2 = add i64 %at, 2
  %length = call i64 @word(ptr %room, i64 %at)
  %apart = call i64 @word(ptr %room, i64 %at1)
  %step = call i64 @word(ptr %room, i64 %at2)
  %made = mul i64 %apart, %size
  call void @set_word(ptr %g, i64 0, i64 %length)
  call void @set_word(ptr %g, i64 1, i64 %made)
  br label %of_array
of_array:
  %i = phi i64 [0, %one], [%inext, %put]
  %w = phi i64 [2, %one], [%wnext, %put]
  %last = icmp eq i64 %i, %arrays
  br i1 %last, label %written, label %put
put:
  %own = call i64 @word(ptr %sizes, i64 %i)
  %usual = mul i64 %apart, %own
  %is = icmp eq i64 %i, %place
  %its = select i1 %is, i64 %step, i64 %usual
  call void @set_word(ptr %g, i64 %w, i64 %its)
  %inext = add i64 %i, 1
  %wnext = add i64 %w, 1
  br label %of_array
written:
  %innermost = icmp eq i64 %k, 0
  br i1 %innermost, label %tell, label %placed
tell:
  call void @set_word(ptr %g, i64 %w, i64 %outer)
  br label %placed
placed:
  %extra = phi i64 [0, %written], [1, %tell]
  %words = add i64 %w, %extra
  %gnext = getelementptr i64, ptr %g, i64 %words
  %knext = add i64 %k, 1
  br label %each
done:
  ret void
}
