; Arrays that are broadcast, in the gate of calls.ll: of at most three of one dtype (or masks) that lie row by row, whatever their
; shapes, the result's shape and the steps of each are found here, and the loop for how they lie along the innermost dimension is called. The
; loops stand at 92 of the gate's words, eight of each dtype: bit i says that array i stays at one element there.

; Dimensions are joined where all arrays step through two as through one. `dims` gets them, the innermost first, each as its length
; and the steps of the result and of three arrays; the answer is how many, or -1 where shapes do not fit or nothing is made. `full`
; gets the result's shape, `all` how many elements it has.
define internal i64 @spread_dims(ptr %arrays, i64 %tensors, i64 %made_size, i64 %rank, ptr %full, ptr %all, ptr %dims) {
entry:
  %running = alloca [4 x i64]  ; the next step of the result and of each array, where they move
  %steps = alloca [4 x i64]
  store i64 %made_size, ptr %running
  store i64 1, ptr %all
  br label %begin
begin:
  %z = phi i64 [0, %entry], [%znext, %begin]
  %z_array = call ptr @pointer(ptr %arrays, i64 %z)
  %z_dtype = call ptr @at(ptr %z_array, i64 56)
  %size = call i64 @word(ptr %z_dtype, i64 5)
  %znext = add i64 %z, 1
  call void @set_word(ptr %running, i64 %znext, i64 %size)
  %z_end = icmp eq i64 %znext, %tensors
  br i1 %z_end, label %dimension, label %begin
dimension:
  %d = phi i64 [0, %begin], [%dnext, %dimension_done]
  %made = phi i64 [0, %begin], [%made_then, %dimension_done]
  %end = icmp eq i64 %d, %rank
  br i1 %end, label %done, label %longest
done:
  ret i64 %made
no:
  ret i64 -1
longest:  ; along the dimension d from behind; a length that is not 1 has to be everybody's
  %i = phi i64 [0, %dimension], [%inext, %longest_next]
  %length = phi i64 [1, %dimension], [%length1, %longest_next]
  %seen = icmp eq i64 %i, %tensors
  br i1 %seen, label %full_known, label %one
one:
  %a = call ptr @pointer(ptr %arrays, i64 %i)
  %own = call i64 @length_from_behind(ptr %a, i64 %d)
  %single = icmp eq i64 %own, 1
  %so_far = icmp eq i64 %length, 1
  %agrees = icmp eq i64 %own, %length
  %c0 = or i1 %single, %so_far
  %fits = or i1 %c0, %agrees
  %empty = icmp eq i64 %own, 0
  %full_one = xor i1 %empty, true
  %goes = and i1 %fits, %full_one
  br i1 %goes, label %longest_next, label %no
longest_next:
  %length1 = select i1 %single, i64 %length, i64 %own
  %inext = add i64 %i, 1
  br label %longest
full_known:
  %from_front0 = sub i64 %rank, %d
  %from_front = sub i64 %from_front0, 1
  call void @set_word(ptr %full, i64 %from_front, i64 %length)
  %dnext = add i64 %d, 1
  %alone = icmp eq i64 %length, 1
  br i1 %alone, label %dimension_done, label %measure
measure:
  %so_many = load i64, ptr %all
  %many = mul i64 %so_many, %length
  store i64 %many, ptr %all
  br label %step
step:  ; the steps of the result and of each array along it
  %k = phi i64 [0, %measure], [%knext, %step_done]
  %together = phi i1 [true, %measure], [%together1, %step_done]
  %step_end = icmp sgt i64 %k, %tensors
  br i1 %step_end, label %stepped, label %which
which:
  %is_result = icmp eq i64 %k, 0
  br i1 %is_result, label %moves, label %of_array
of_array:
  %before = sub i64 %k, 1
  %b = call ptr @pointer(ptr %arrays, i64 %before)
  %its = call i64 @length_from_behind(ptr %b, i64 %d)
  %still = icmp eq i64 %its, 1
  br i1 %still, label %step_done, label %moves
moves:
  %at = call i64 @word(ptr %running, i64 %k)
  %at_next = mul i64 %at, %length
  call void @set_word(ptr %running, i64 %k, i64 %at_next)
  br label %step_done
step_done:
  %stride = phi i64 [0, %of_array], [%at, %moves]
  call void @set_word(ptr %steps, i64 %k, i64 %stride)
  %last = call i64 @last_end(ptr %dims, i64 %made, i64 %k)
  %continues = icmp eq i64 %stride, %last
  %together1 = and i1 %together, %continues
  %knext = add i64 %k, 1
  br label %step
stepped:
  %has_before = icmp sgt i64 %made, 0
  %joins = and i1 %together, %has_before
  br i1 %joins, label %join, label %add
join:
  %last_dim = sub i64 %made, 1
  %last_at = mul i64 %last_dim, 5
  %n = call i64 @word(ptr %dims, i64 %last_at)
  %n_both = mul i64 %n, %length
  call void @set_word(ptr %dims, i64 %last_at, i64 %n_both)
  br label %dimension_done
add:
  %new_at = mul i64 %made, 5
  call void @set_word(ptr %dims, i64 %new_at, i64 %length)
  br label %copy
copy:
  %c = phi i64 [0, %add], [%cnext, %copy]
  %s = call i64 @word(ptr %steps, i64 %c)
  %c_at0 = add i64 %new_at, %c
  %c_at = add i64 %c_at0, 1
  call void @set_word(ptr %dims, i64 %c_at, i64 %s)
  %cnext = add i64 %c, 1
  %copied = icmp sgt i64 %cnext, %tensors
  br i1 %copied, label %added, label %copy
added:
  %made_more = add i64 %made, 1
  br label %dimension_done
dimension_done:
  %made_then = phi i64 [%made, %full_known], [%made, %join], [%made_more, %added]
  br label %dimension
}

; The length of an array's dimension, counted from the last; 1 where it has none.
define internal i64 @length_from_behind(ptr %array, i64 %d) alwaysinline {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %has = icmp slt i64 %d, %nd
  br i1 %has, label %read, label %none
read:
  %dims = call ptr @at(ptr %array, i64 32)
  %back0 = sub i64 %nd, %d
  %back = sub i64 %back0, 1
  %length = call i64 @word(ptr %dims, i64 %back)
  ret i64 %length
none:
  ret i64 1
}

; Where the last dimension's steps end: the step of a further one that goes on with it.
define internal i64 @last_end(ptr %dims, i64 %made, i64 %k) alwaysinline {
entry:
  %some = icmp sgt i64 %made, 0
  br i1 %some, label %read, label %none
read:
  %last = sub i64 %made, 1
  %at = mul i64 %last, 5
  %n = call i64 @word(ptr %dims, i64 %at)
  %step_at0 = add i64 %at, %k
  %step_at = add i64 %step_at0, 1
  %step = call i64 @word(ptr %dims, i64 %step_at)
  %end = mul i64 %n, %step
  ret i64 %end
none:
  ret i64 0
}

; What a gate's loop makes of arrays that are broadcast, or null. `found` says then whether there is an error (-1), the call is none
; for this (0), or the loop is not there yet (1).
define internal ptr @spread(ptr %g, ptr %args, i64 %n, ptr %found) {
entry:
  %arrays = alloca [4 x ptr]
  %numbers = alloca [8 x double]
  %full = alloca [8 x i64]
  %all = alloca i64
  %dims = alloca [40 x i64]
  %context = alloca [64 x i64], align 64
  store i64 0, ptr %found
  %Array = load ptr, ptr @g_ndarray
  %Float = load ptr, ptr @g_float
  br label %read
read:
  %i = phi i64 [0, %entry], [%inext, %next]
  %tensors = phi i64 [0, %entry], [%tensors1, %next]
  %count = phi i64 [0, %entry], [%count1, %next]
  %dtype = phi ptr [null, %entry], [%dtype1, %next]
  %rank = phi i64 [0, %entry], [%rank1, %next]
  %bit = phi i64 [1, %entry], [%bit1, %next]
  %variant = phi i64 [0, %entry], [%variant1, %next]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %dtype_known, label %one
one:
  %a = call ptr @pointer(ptr %args, i64 %i)
  %role_at = add i64 %i, 32
  %role = call i64 @word(ptr %g, i64 %role_at)
  %either = icmp eq i64 %role, 2
  %twice = shl i64 %bit, 1
  %bit1 = select i1 %either, i64 %twice, i64 %bit
  %type = call ptr @at(ptr %a, i64 8)
  %is_array = icmp eq ptr %type, %Array
  br i1 %is_array, label %array, label %number
array:
  %mask_role = icmp eq i64 %role, 5
  %valued = icmp ult i64 %role, 3
  %common = or i1 %valued, %mask_role
  %Bool = load ptr, ptr @g_bool_dtype
  %room = icmp slt i64 %tensors, 3
  %rows = call i1 @has_flags(ptr %a, i32 257)
  %nd = call i64 @dimensions(ptr %a)
  %few = icmp slt i64 %nd, 9
  %a_dtype = call ptr @at(ptr %a, i64 56)
  %first = icmp eq ptr %dtype, null
  %same = icmp eq ptr %dtype, %a_dtype
  %a_agrees = or i1 %first, %same
  %is_bool = icmp eq ptr %a_dtype, %Bool
  %agrees = select i1 %mask_role, i1 %is_bool, i1 %a_agrees
  %dtype_now = select i1 %mask_role, ptr %dtype, ptr %a_dtype
  %c0 = and i1 %common, %room
  %c1 = and i1 %rows, %few
  %c2 = and i1 %c0, %c1
  %c = and i1 %c2, %agrees
  br i1 %c, label %keep, label %no
keep:
  %a_slot = getelementptr ptr, ptr %arrays, i64 %tensors
  store ptr %a, ptr %a_slot
  %longer = call i64 @llvm.smax.i64(i64 %rank, i64 %nd)
  br label %next
number:
  %only = icmp eq i64 %role, 3
  %may = or i1 %only, %either
  %is_float = icmp eq ptr %type, %Float
  br i1 %may, label %of_number, label %no
of_number:
  br i1 %is_float, label %float, label %whole
float:
  %f_at = getelementptr i8, ptr %a, i64 16
  %f = load double, ptr %f_at
  br label %store_number
whole:
  %Int = load ptr, ptr @g_int
  %is_int = icmp eq ptr %type, %Int
  br i1 %is_int, label %int, label %no
int:
  %d = call double @PyLong_AsDouble(ptr %a)
  %d_size = call double @llvm.fabs.f64(double %d)
  %exact = fcmp ole double %d_size, 9007199254740992.0
  br i1 %exact, label %perhaps_error, label %no
perhaps_error:
  %minus = fcmp oeq double %d, -1.0
  br i1 %minus, label %error, label %store_number
error:
  %e = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %e, null
  br i1 %fine, label %store_number, label %clear
clear:
  call void @PyErr_Clear()
  br label %no
store_number:
  %x = phi double [%f, %float], [%d, %perhaps_error], [%d, %error]
  %x_slot = getelementptr double, ptr %numbers, i64 %count
  store double %x, ptr %x_slot
  br label %next
next:
  %dtype1 = phi ptr [%dtype_now, %keep], [%dtype, %store_number]
  %rank1 = phi i64 [%longer, %keep], [%rank, %store_number]
  %t_step = phi i64 [1, %keep], [0, %store_number]
  %n_step = phi i64 [0, %keep], [1, %store_number]
  %tensors1 = add i64 %tensors, %t_step
  %count1 = add i64 %count, %n_step
  %counted = icmp eq i64 %n_step, 1
  %flag = and i1 %counted, %either
  %with_bit = or i64 %variant, %bit
  %variant1 = select i1 %flag, i64 %with_bit, i64 %variant
  %inext = add i64 %i, 1
  br label %read

dtype_known:
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
  %several = icmp sgt i64 %tensors, 1
  %native = xor i1 %foreign, true
  %suits = and i1 %native, %several
  br i1 %suits, label %highest, label %no
highest:
  %h_at = add i64 %dt, 52
  %h_word = getelementptr double, ptr %g, i64 %h_at
  %high = load double, ptr %h_word
  br label %in_range
in_range:
  %v = phi i64 [0, %highest], [%vnext, %range_one]
  %vend = icmp eq i64 %v, %count
  br i1 %vend, label %shape, label %range_one
range_one:
  %vp = getelementptr double, ptr %numbers, i64 %v
  %vx = load double, ptr %vp
  %vsize = call double @llvm.fabs.f64(double %vx)
  %vbeyond = fcmp ogt double %vsize, %high
  %vfinite = fcmp olt double %vsize, 0x7FF0000000000000
  %vrefused = and i1 %vbeyond, %vfinite
  %vnext = add i64 %v, 1
  br i1 %vrefused, label %no, label %in_range
shape:
  %r_at = add i64 %dt, 12
  %r_dtype = call ptr @pointer(ptr %g, i64 %r_at)
  %no_loops = icmp eq ptr %r_dtype, null  ; of a gate before a function in Python
  br i1 %no_loops, label %no, label %dimensions_of
dimensions_of:
  %made_size = call i64 @word(ptr %r_dtype, i64 5)
  %outer = call i64 @spread_dims(ptr %arrays, i64 %tensors, i64 %made_size, i64 %rank, ptr %full, ptr %all, ptr %dims)
  %some = icmp sgt i64 %outer, 0  ; a single element has no dimensions
  br i1 %some, label %mask, label %no
mask:  ; which arrays stay at one element along the innermost dimension
  %k = phi i64 [0, %dimensions_of], [%knext, %mask]
  %still = phi i64 [0, %dimensions_of], [%still1, %mask]
  %knext = add i64 %k, 1
  %k_at = add i64 %knext, 1
  %k_step = call i64 @word(ptr %dims, i64 %k_at)
  %k_stays = icmp eq i64 %k_step, 0
  %k_bit = shl i64 1, %k
  %with = or i64 %still, %k_bit
  %still1 = select i1 %k_stays, i64 %with, i64 %still
  %masked = icmp eq i64 %knext, %tensors
  br i1 %masked, label %loop, label %mask
loop:
  %eight = shl i64 %dt, 3
  %bank = shl i64 %variant, 5
  %l0 = add i64 %eight, 92
  %l1 = add i64 %l0, %bank
  %l_at = add i64 %l1, %still1
  %function = call ptr @pointer(ptr %g, i64 %l_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %later, label %make
later:
  store i64 1, ptr %found
  ret ptr null
make:
  %elements = load i64, ptr %all
  %c_at = add i64 %dt, 48
  %cached_from = call i64 @word(ptr %g, i64 %c_at)
  %cached = icmp sge i64 %elements, %cached_from
  %r = call ptr @new_array(ptr %r_dtype, i64 %rank, ptr %full, i1 %cached)
  %lost = icmp eq ptr %r, null
  br i1 %lost, label %fail, label %fill
fail:
  store i64 -1, ptr %found
  ret ptr null
fill:
  %r_data = call ptr @at(ptr %r, i64 16)
  store ptr %r_data, ptr %context
  br label %data
data:
  %t = phi i64 [0, %fill], [%tnext, %data]
  %t_array = call ptr @pointer(ptr %arrays, i64 %t)
  %t_data = call ptr @at(ptr %t_array, i64 16)
  %tnext = add i64 %t, 1
  %t_slot = getelementptr ptr, ptr %context, i64 %tnext
  store ptr %t_data, ptr %t_slot
  %t_end = icmp eq i64 %tnext, %tensors
  br i1 %t_end, label %moving, label %data
moving:
  %m = phi i64 [0, %data], [%mnext, %move]
  %m_end = icmp eq i64 %m, %count
  %m_at0 = add i64 %tensors, %m
  %m_at = add i64 %m_at0, 1
  br i1 %m_end, label %geometry, label %move
move:
  %m_from = getelementptr double, ptr %numbers, i64 %m
  %m_x = load double, ptr %m_from
  %m_slot = getelementptr double, ptr %context, i64 %m_at
  store double %m_x, ptr %m_slot
  %mnext = add i64 %m, 1
  br label %moving
geometry:  ; the innermost dimension, how many others there are, and those
  %width = add i64 %tensors, 2  ; words of a dimension
  br label %each
each:
  %w = phi i64 [0, %geometry], [%wnext, %each_done]
  %g_at = phi i64 [%m_at, %geometry], [%g_next, %each_done]
  br label %word_of
word_of:
  %q = phi i64 [0, %each], [%qnext, %word_of]
  %from0 = mul i64 %w, 5
  %from = add i64 %from0, %q
  %value = call i64 @word(ptr %dims, i64 %from)
  %to = add i64 %g_at, %q
  call void @set_word(ptr %context, i64 %to, i64 %value)
  %qnext = add i64 %q, 1
  %q_end = icmp eq i64 %qnext, %width
  br i1 %q_end, label %is_inner, label %word_of
is_inner:
  %inner = icmp eq i64 %w, 0
  %behind = add i64 %g_at, %width
  br i1 %inner, label %others, label %each_done
others:
  %rest = sub i64 %outer, 1
  call void @set_word(ptr %context, i64 %behind, i64 %rest)
  %behind1 = add i64 %behind, 1
  br label %each_done
each_done:
  %g_next = phi i64 [%behind, %is_inner], [%behind1, %others]
  %wnext = add i64 %w, 1
  %w_end = icmp eq i64 %wnext, %outer
  br i1 %w_end, label %go, label %each
go:
  %grain = call i64 @word(ptr %g, i64 5)
  call void @perform(ptr %function, ptr %context, i64 %elements, i64 %grain)
  ret ptr %r
no:
  ret ptr null
}

; A new array that lies row by row.
define internal ptr @new_array(ptr %dtype, i64 %nd, ptr %dims, i1 %cached) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %rank = trunc i64 %nd to i32
  call void @Py_IncRef(ptr %dtype)
  br i1 %cached, label %large, label %small
small:
  %s = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  ret ptr %s
large:
  %handler = load ptr, ptr @g_handler
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  %l = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  %ours = call ptr @PyDataMem_SetHandler(ptr %before)
  call void @Py_DecRef(ptr %before)
  call void @Py_DecRef(ptr %ours)
  ret ptr %l
}
