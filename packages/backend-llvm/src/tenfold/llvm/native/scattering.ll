; Numbers written or added at places of a dimension: scatter, scatter_add, index_add and their forms in place, of arrays in one piece
; without gradients. All places are looked at first; where one is outside, or anything else is not plain, the function's own code
; has to see. Of a function's words (views.ll has those of kernels) 32 is 32 and 1 where it writes in place, 2 where it adds, 4
; where a place names a whole slice. The loops (places.py writes them) take equal places in the order in which they come.



; The array of a tensor in one piece; null for anything else, and where a gradient has to be recorded.
define internal ptr @unrecorded_array(ptr %tensor, i1 %off) {
entry:
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %look, label %no
look:
  %array = call ptr @plain_array(ptr %tensor, i32 257)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %no, label %graph
graph:
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  %fine = or i1 %free, %off
  br i1 %fine, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; Whether two arrays have the same sizes but for one dimension.
define internal i1 @same_but(ptr %a, ptr %b, i64 %but) {
entry:
  %na = call i64 @dimensions(ptr %a)
  %nb = call i64 @dimensions(ptr %b)
  %da = call ptr @at(ptr %a, i64 32)
  %db = call ptr @at(ptr %b, i64 32)
  %ranks = icmp eq i64 %na, %nb
  br i1 %ranks, label %each, label %no
each:
  %d = phi i64 [0, %entry], [%dnext, %next]
  %end = icmp eq i64 %d, %na
  br i1 %end, label %yes, label %one
one:
  %x = call i64 @word(ptr %da, i64 %d)
  %y = call i64 @word(ptr %db, i64 %d)
  %equal = icmp eq i64 %x, %y
  %left_out = icmp eq i64 %d, %but
  %fine = or i1 %equal, %left_out
  br i1 %fine, label %next, label %no
next:
  %dnext = add i64 %d, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; A number as an array of float32 or float64 has it, in `room`; false where it has no such number.
define internal i1 @number_as(ptr %number, i1 %single, ptr %room) {
entry:
  %Float = load ptr, ptr @g_float
  %type = call ptr @at(ptr %number, i64 8)
  %is = icmp eq ptr %type, %Float
  br i1 %is, label %float, label %int
float:
  %at = getelementptr i8, ptr %number, i64 16
  %f = load double, ptr %at
  br label %fit
int:
  %n = call i64 @whole_number(ptr %number, i64 -9223372036854775808)
  %up = add i64 %n, 16777216
  %little = icmp ule i64 %up, 33554432
  %d = sitofp i64 %n to double
  br i1 %little, label %fit, label %no
fit:
  %v = phi double [%f, %float], [%d, %int]
  store double %v, ptr %room
  br i1 %single, label %narrow, label %yes
narrow:
  %size = call double @llvm.fabs.f64(double %v)
  %inside = fcmp ule double %size, 1.0e38
  %infinite = fcmp oeq double %size, 0x7FF0000000000000
  %fits = or i1 %inside, %infinite
  %s = fptrunc double %v to float
  store float %s, ptr %room
  br i1 %fits, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @loops_are_there() {
entry:
  %first = load ptr, ptr @l_places_fit
  %there = icmp ne ptr %first, null
  br i1 %there, label %yes, label %ask
ask:
  %load = load ptr, ptr @l_load
  %loaded = call ptr @PyObject_Vectorcall(ptr %load, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %loaded, null
  br i1 %failed, label %clear, label %drop
clear:
  call void @PyErr_Clear()
  ret i1 false
drop:
  call void @Py_DecRef(ptr %loaded)
  %now = load ptr, ptr @l_places_fit
  %is = icmp ne ptr %now, null
  ret i1 %is
yes:
  ret i1 true
}

define internal ptr @scatter_loop(i64 %code, ptr %dtype) {
entry:
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %I64 = load ptr, ptr @g_int64
  %is32 = icmp eq ptr %dtype, %F32
  %is64 = icmp eq ptr %dtype, %F64
  %isint = icmp eq ptr %dtype, %I64
  %known0 = or i1 %is32, %is64
  %known = or i1 %known0, %isint
  br i1 %known, label %compiled, label %no
compiled:
  %there = call i1 @loops_are_there()
  br i1 %there, label %choose, label %no
choose:
  %adds = and i64 %code, 2
  %slices = and i64 %code, 4
  %is_add = icmp ne i64 %adds, 0
  %is_slices = icmp ne i64 %slices, 0
  %scatter_set4 = load ptr, ptr @l_scatter_set4
  %scatter_set8 = load ptr, ptr @l_scatter_set8
  %scatter_add_float = load ptr, ptr @l_scatter_add_float
  %slices_add_float = load ptr, ptr @l_slices_add_float
  %scatter_add_double = load ptr, ptr @l_scatter_add_double
  %slices_add_double = load ptr, ptr @l_slices_add_double
  %scatter_add_i64 = load ptr, ptr @l_scatter_add_i64
  %slices_add_i64 = load ptr, ptr @l_slices_add_i64
  %set = select i1 %is32, ptr %scatter_set4, ptr %scatter_set8
  %wide = select i1 %is64, ptr %scatter_add_double, ptr %scatter_add_i64
  %add = select i1 %is32, ptr %scatter_add_float, ptr %wide
  %slices_wide = select i1 %is64, ptr %slices_add_double, ptr %slices_add_i64
  %slices_add = select i1 %is32, ptr %slices_add_float, ptr %slices_wide
  %scattered = select i1 %is_add, ptr %add, ptr %set
  %loop = select i1 %is_slices, ptr %slices_add, ptr %scattered
  ret ptr %loop
no:
  ret ptr null
}

define ptr @scatter_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %context = alloca [8 x i64]
  %room = alloca i64
  %n = and i64 %nargsf, 9223372036854775807
  %code = call i64 @word(ptr %words, i64 32)  ; of which 32 stands for this file
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s1 = call i64 @word(ptr %flags, i64 1)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %unnamed = icmp eq ptr %names, null
  %complete = icmp eq i64 %n, 4
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %complete
  br i1 %c, label %modes, label %slow
modes:
  %all_on = icmp eq i64 %s1, 0
  br i1 %all_on, label %tensors, label %ask_thread
ask_thread:
  %on = call i1 @grad_is_on()
  %off_here = xor i1 %on, true
  br label %tensors
tensors:
  %off = phi i1 [false, %modes], [%off_here, %ask_thread]
  %input = call ptr @pointer(ptr %args, i64 0)
  %dim_given = call ptr @pointer(ptr %args, i64 1)
  %index = call ptr @pointer(ptr %args, i64 2)
  %source = call ptr @pointer(ptr %args, i64 3)
  %x = call ptr @unrecorded_array(ptr %input, i1 %off)
  %x_unfit = icmp eq ptr %x, null
  br i1 %x_unfit, label %slow, label %places
places:
  %p_type = call ptr @at(ptr %index, i64 8)
  %p_is = call i1 @is_tensor(ptr %p_type)
  br i1 %p_is, label %place_array, label %slow
place_array:
  %p = call ptr @plain_array(ptr %index, i32 257)
  %p_unfit = icmp eq ptr %p, null
  br i1 %p_unfit, label %slow, label %dtypes
dtypes:
  %I64 = load ptr, ptr @g_int64
  %F32 = load ptr, ptr @p_float32
  %p_dtype = call ptr @at(ptr %p, i64 56)
  %dtype = call ptr @at(ptr %x, i64 56)
  %loop = call ptr @scatter_loop(i64 %code, ptr %dtype)
  %long = icmp eq ptr %p_dtype, %I64
  %served = icmp ne ptr %loop, null
  %nd = call i64 @dimensions(ptr %x)
  %dim = call i64 @which_dimension(ptr %dim_given, i64 %nd)
  %has_dim = icmp sge i64 %dim, 0
  %d0 = and i1 %long, %served
  %d1 = and i1 %d0, %has_dim
  br i1 %d1, label %what, label %slow
what:  ; a tensor, or for scatter a number
  %v_type = call ptr @at(ptr %source, i64 8)
  %v_is = call i1 @is_tensor(ptr %v_type)
  br i1 %v_is, label %values, label %number
values:
  %v = call ptr @unrecorded_array(ptr %source, i1 %off)
  %v_unfit = icmp eq ptr %v, null
  br i1 %v_unfit, label %slow, label %values_dtype
values_dtype:
  %v_dtype = call ptr @at(ptr %v, i64 56)
  %one_dtype = icmp eq ptr %v_dtype, %dtype
  %v_data = call ptr @at(ptr %v, i64 16)
  br i1 %one_dtype, label %shapes, label %slow
number:
  %others = and i64 %code, 6
  %plain_set = icmp eq i64 %others, 0
  %not_int = icmp ne ptr %dtype, %I64
  %may = and i1 %plain_set, %not_int
  br i1 %may, label %number_it, label %slow
number_it:
  %single = icmp eq ptr %dtype, %F32
  %number_fits = call i1 @number_as(ptr %source, i1 %single, ptr %room)
  br i1 %number_fits, label %shapes, label %slow
shapes:
  %src = phi ptr [%v_data, %values_dtype], [%room, %number_it]
  %step = phi i64 [1, %values_dtype], [0, %number_it]
  %sized = phi ptr [%v, %values_dtype], [%p, %number_it]
  %x_dims = call ptr @at(ptr %x, i64 32)
  %s_dims = call ptr @at(ptr %sized, i64 32)
  %alike = call i1 @same_but(ptr %x, ptr %sized, i64 %dim)
  br i1 %alike, label %slices_or_not, label %slow
slices_or_not:
  %size = call i64 @word(ptr %x_dims, i64 %dim)
  %many = call i64 @word(ptr %s_dims, i64 %dim)
  %slices = and i64 %code, 4
  %is_slices = icmp ne i64 %slices, 0
  %p_count = call i64 @elements(ptr %p)
  br i1 %is_slices, label %vector, label %scattered
vector:
  %p_nd = call i64 @dimensions(ptr %p)
  %p_flat = icmp eq i64 %p_nd, 1
  %p_many = icmp eq i64 %p_count, %many
  %p_fits = and i1 %p_flat, %p_many
  br i1 %p_fits, label %some, label %slow
scattered:
  %p_shape = call i1 @same_shape(ptr %p, ptr %sized)
  br i1 %p_shape, label %some, label %slow
some:
  %x_count = call i64 @elements(ptr %x)
  %x_some = icmp sgt i64 %x_count, 0
  %p_some = icmp sgt i64 %p_count, 0
  %both = and i1 %x_some, %p_some
  br i1 %both, label %inside, label %slow
inside:
  %p_data = call ptr @at(ptr %p, i64 16)
  %places_fit = load ptr, ptr @l_places_fit
  %all_inside = call i1 %places_fit(ptr %p_data, i64 %p_count, i64 %size)
  br i1 %all_inside, label %kernel, label %slow
kernel:
  %ours = call i1 @stands_for(ptr %words)
  br i1 %ours, label %where, label %slow
where:
  %in_place = and i64 %code, 1
  %writes = icmp ne i64 %in_place, 0
  br i1 %writes, label %target, label %copy
target:
  %w = call ptr @writable(ptr %input, i32 1281)
  %w_unfit = icmp eq ptr %w, null
  br i1 %w_unfit, label %slow, label %apart
apart:
  %apart1 = call i1 @lies_apart(ptr %index, ptr %input, i1 false)
  %apart2 = call i1 @lies_apart(ptr %source, ptr %input, i1 false)
  %apart_both = and i1 %apart1, %apart2
  br i1 %apart_both, label %go, label %slow
copy:
  %bytes = call i64 @size_in_bytes(ptr %x)
  %cached = icmp sge i64 %bytes, 262144
  %made = call ptr @new_like(ptr %x, ptr %dtype, i1 %cached)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %fail, label %copy_it
copy_it:
  %made_data = call ptr @at(ptr %made, i64 16)
  %x_data = call ptr @at(ptr %x, i64 16)
  call void @copy_all(ptr %made_data, ptr %x_data, i64 %bytes)
  br label %go
go:
  %out = phi ptr [%w, %apart], [%made, %copy_it]
  %out_data = call ptr @at(ptr %out, i64 16)
  br label %behind
behind:  ; how many numbers a slice has, and how many slices there are
  %b = phi i64 [%dim, %go], [%b_next, %behind_one]
  %inner = phi i64 [1, %go], [%inner_next, %behind_one]
  %b_next = add i64 %b, 1
  %b_end = icmp eq i64 %b_next, %nd
  br i1 %b_end, label %run, label %behind_one
behind_one:
  %b_size = call i64 @word(ptr %x_dims, i64 %b_next)
  %inner_next = mul i64 %inner, %b_size
  br label %behind
run:
  %columns = udiv i64 %x_count, %size
  %worth = udiv i64 32768, %many
  %grain = add i64 %worth, 1
  store ptr %out_data, ptr %context
  %context1 = getelementptr ptr, ptr %context, i64 1
  %context2 = getelementptr ptr, ptr %context, i64 2
  store ptr %p_data, ptr %context1
  store ptr %src, ptr %context2
  call void @set_word(ptr %context, i64 3, i64 %size)
  call void @set_word(ptr %context, i64 4, i64 %many)
  call void @set_word(ptr %context, i64 5, i64 %inner)
  call void @set_word(ptr %context, i64 6, i64 %step)
  call void @perform(ptr %loop, ptr %context, i64 %columns, i64 %grain)
  br i1 %writes, label %note, label %wrap
note:
  %noted = call i1 @note_write(ptr %input, ptr %out)
  br i1 %noted, label %same, label %fail
same:
  call void @Py_IncRef(ptr %input)
  ret ptr %input
wrap:
  %t = call ptr @new_tensor(ptr %out)
  ret ptr %t
fail:
  ret ptr null
slow:
  %usual_way = call ptr @quick_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
