; Native functions for Python (METH_FASTCALL), which call compiled loops. They read NumPy's arrays by the fields of its binary
; interface: data 16, dimensions' count 24, dimensions 32, dtype 56, flags 64. native/functions.py fills the g_… variables.

@g_ndarray = global ptr null
@g_float = global ptr null
@g_int = global ptr null
@g_bool_dtype = global ptr null
@g_None = global ptr null
@g_NotImplemented = global ptr null
@g_TypeError = global ptr null
@g_out = global ptr null      ; the string "out", as the interpreter keeps it
@g_handler = global ptr null  ; the caching allocator, as NumPy takes it
@wrong_value = private constant [71 x i8] c"launch: expected an address, a count, a grain, then arrays and numbers\00"

declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare void @PyErr_SetString(ptr, ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare double @PyLong_AsDouble(ptr)
declare double @llvm.fabs.f64(double)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @PyDataMem_SetHandler(ptr)

define internal ptr @at(ptr %object, i64 %offset) alwaysinline {
  %p = getelementptr i8, ptr %object, i64 %offset
  %v = load ptr, ptr %p
  ret ptr %v
}

define internal i64 @word(ptr %words, i64 %index) alwaysinline {
  %p = getelementptr i64, ptr %words, i64 %index
  %v = load i64, ptr %p
  ret i64 %v
}

define internal void @set_word(ptr %words, i64 %index, i64 %value) alwaysinline {
  %p = getelementptr i64, ptr %words, i64 %index
  store i64 %value, ptr %p
  ret void
}

define internal ptr @pointer(ptr %words, i64 %index) alwaysinline {
  %p = getelementptr ptr, ptr %words, i64 %index
  %v = load ptr, ptr %p
  ret ptr %v
}

; Small loops run at once; for longer ones other threads of Python may go on meanwhile.
define void @perform(ptr %function, ptr %context, i64 %count, i64 %grain) {
entry:
  %small = icmp sle i64 %count, %grain
  br i1 %small, label %direct, label %released
direct:
  call void %function(ptr %context, i64 0, i64 %count)
  ret void
released:
  %thread = call ptr @PyEval_SaveThread()
  call void @run(ptr %function, ptr %context, i64 %count, i64 %grain)
  call void @PyEval_RestoreThread(ptr %thread)
  ret void
}

; launch(address, count, grain, *arrays_and_numbers): run a loop; its context is the rest of the arguments.
define ptr @launch(ptr %self, ptr %args, i64 %n) {
entry:
  %context = alloca [96 x i64], align 64
  %few = icmp slt i64 %n, 3
  %many = icmp sgt i64 %n, 99
  %bad = or i1 %few, %many
  br i1 %bad, label %wrong, label %begin
begin:
  %o0 = call ptr @at(ptr %args, i64 0)
  %o1 = call ptr @at(ptr %args, i64 8)
  %o2 = call ptr @at(ptr %args, i64 16)
  %address = call i64 @PyLong_AsSsize_t(ptr %o0)
  %count = call i64 @PyLong_AsSsize_t(ptr %o1)
  %grain = call i64 @PyLong_AsSsize_t(ptr %o2)
  %Float = load ptr, ptr @g_float
  %Int = load ptr, ptr @g_int
  %Array = load ptr, ptr @g_ndarray
  br label %look
look:
  %i = phi i64 [3, %begin], [%inext, %next]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %go, label %one
one:
  %v = call ptr @pointer(ptr %args, i64 %i)
  %type = call ptr @at(ptr %v, i64 8)
  %k = sub i64 %i, 3
  %slot = getelementptr i64, ptr %context, i64 %k
  %is_int = icmp eq ptr %type, %Int
  br i1 %is_int, label %whole, label %other
whole:
  %w = call i64 @PyLong_AsSsize_t(ptr %v)
  store i64 %w, ptr %slot
  br label %next
other:
  ; a float's number and an array's data pointer are both the word after the object's head
  %is_float = icmp eq ptr %type, %Float
  %is_array = icmp eq ptr %type, %Array
  %known = or i1 %is_float, %is_array
  br i1 %known, label %field, label %wrong
field:
  %f = call ptr @at(ptr %v, i64 16)
  store ptr %f, ptr %slot
  br label %next
next:
  %inext = add i64 %i, 1
  br label %look
go:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %fail, label %check
check:
  %nothing = icmp slt i64 %count, 1
  br i1 %nothing, label %done, label %work
work:
  %function = inttoptr i64 %address to ptr
  call void @perform(ptr %function, ptr %context, i64 %count, i64 %grain)
  br label %done
done:
  %none = load ptr, ptr @g_None
  call void @Py_IncRef(ptr %none)
  ret ptr %none
wrong:
  %TypeError = load ptr, ptr @g_TypeError
  call void @PyErr_SetString(ptr %TypeError, ptr @wrong_value)
  br label %fail
fail:
  ret ptr null
}

; caching(*args, **kwargs): call the function in `self`, with memory for new arrays from the caching allocator.
define ptr @caching(ptr %self, ptr %args, i64 %n, ptr %names) {
  %handler = load ptr, ptr @g_handler
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  %result = call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %n, ptr %names)
  %ours = call ptr @PyDataMem_SetHandler(ptr %before)
  call void @Py_DecRef(ptr %before)
  call void @Py_DecRef(ptr %ours)
  ret ptr %result
}

define i64 @elements(ptr %array) {
entry:
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  br label %look
look:
  %d = phi i64 [0, %entry], [%dnext, %more]
  %n = phi i64 [1, %entry], [%nnext, %more]
  %end = icmp eq i64 %d, %nd
  br i1 %end, label %done, label %more
more:
  %size = call i64 @word(ptr %dims, i64 %d)
  %nnext = mul i64 %n, %size
  %dnext = add i64 %d, 1
  br label %look
done:
  ret i64 %n
}

define internal i64 @dimensions(ptr %array) alwaysinline {
  %p = getelementptr i8, ptr %array, i64 24
  %nd = load i32, ptr %p
  %wide = sext i32 %nd to i64
  ret i64 %wide
}

define i1 @same_shape(ptr %a, ptr %b) {
entry:
  %na = call i64 @dimensions(ptr %a)
  %nb = call i64 @dimensions(ptr %b)
  %da = call ptr @at(ptr %a, i64 32)
  %db = call ptr @at(ptr %b, i64 32)
  %ranks = icmp eq i64 %na, %nb
  br i1 %ranks, label %look, label %no
look:
  %d = phi i64 [0, %entry], [%dnext, %next]
  %end = icmp eq i64 %d, %na
  br i1 %end, label %yes, label %compare
compare:
  %x = call i64 @word(ptr %da, i64 %d)
  %y = call i64 @word(ptr %db, i64 %d)
  %equal = icmp eq i64 %x, %y
  br i1 %equal, label %next, label %no
next:
  %dnext = add i64 %d, 1
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @has_flags(ptr %array, i32 %wanted) alwaysinline {
  %p = getelementptr i8, ptr %array, i64 64
  %flags = load i32, ptr %p
  %found = and i32 %flags, %wanted
  %all = icmp eq i32 %found, %wanted
  ret i1 %all
}

; A new array of the shape of another, with its numbers in the same order.
define ptr @new_like(ptr %array, ptr %dtype, i1 %cached) {
entry:
  %room = alloca [64 x i64]
  %steps = call ptr @steps_like(ptr %array, ptr %dtype, ptr %room)
  %Array = load ptr, ptr @g_ndarray
  %nd = call i64 @dimensions(ptr %array)
  %rank = trunc i64 %nd to i32
  %dims = call ptr @at(ptr %array, i64 32)
  call void @Py_IncRef(ptr %dtype)
  br i1 %cached, label %large, label %small
small:
  %s = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr %steps, ptr null, i32 0, ptr null)
  ret ptr %s
large:
  %handler = load ptr, ptr @g_handler
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  %l = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr %steps, ptr null, i32 0, ptr null)
  %ours = call ptr @PyDataMem_SetHandler(ptr %before)
  call void @Py_DecRef(ptr %before)
  call void @Py_DecRef(ptr %ours)
  ret ptr %l
}

; How many elements an array of all dimensions' largest sizes has: the result of arrays that are broadcast.
define i64 @spread_elements(ptr %args, i64 %n) {
entry:
  %Array = load ptr, ptr @g_ndarray
  br label %dimension
dimension:  ; from the last one on
  %d = phi i64 [0, %entry], [%dnext, %measured]
  %all = phi i64 [1, %entry], [%allnext, %measured]
  br label %each
each:
  %i = phi i64 [0, %dimension], [%inext, %next]
  %size = phi i64 [-1, %dimension], [%size1, %next]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %measure, label %one
one:
  %a = call ptr @pointer(ptr %args, i64 %i)
  %type = call ptr @at(ptr %a, i64 8)
  %is = icmp eq ptr %type, %Array
  br i1 %is, label %array, label %next
array:
  %nd = call i64 @dimensions(ptr %a)
  %has = icmp slt i64 %d, %nd
  br i1 %has, label %read, label %next
read:
  %dims = call ptr @at(ptr %a, i64 32)
  %back0 = sub i64 %nd, %d
  %back = sub i64 %back0, 1
  %length = call i64 @word(ptr %dims, i64 %back)
  %longer = call i64 @llvm.smax.i64(i64 %size, i64 %length)
  br label %next
next:
  %size1 = phi i64 [%size, %one], [%size, %array], [%longer, %read]
  %inext = add i64 %i, 1
  br label %each
measure:
  %none = icmp slt i64 %size, 0
  br i1 %none, label %done, label %measured
measured:
  %allnext = mul i64 %all, %size
  %dnext = add i64 %d, 1
  br label %dimension
done:
  ret i64 %all
}

; gate(*args, out=…): an elementwise kernel around the one beneath it. `self` is an array of words (gates.py names them) with
; the kernel beneath, the function in Python that serves layouts which this one does not, and the compiled loops. Arrays that
; lie in one piece in the same order, of one shape and dtype, and numbers are served here, one of the arrays also expanded or with
; gaps beside others that lie row by row; a call of another dtype goes to the kernel beneath.
define ptr @gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [48 x i64], align 64
  %odd_rows = alloca [15 x i64]
  %sizes = alloca [8 x i64]
  %numbers = alloca [8 x double]
  %found_loop = alloca i64
  %g = call ptr @at(ptr %self, i64 16)
  %beneath = call ptr @pointer(ptr %g, i64 0)
  %expected = call i64 @word(ptr %g, i64 2)
  %complete = icmp eq i64 %n, %expected
  br i1 %complete, label %keywords, label %under
keywords:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %measure, label %named
named:
  %size = call i64 @word(ptr %names, i64 2)
  %name = call ptr @at(ptr %names, i64 24)
  %out_name = load ptr, ptr @g_out
  %one_name = icmp eq i64 %size, 1
  %is_out = icmp eq ptr %name, %out_name
  %takes = and i1 %one_name, %is_out
  br i1 %takes, label %given, label %under
given:
  %given_out = call ptr @pointer(ptr %args, i64 %n)
  %Array0 = load ptr, ptr @g_ndarray
  %out_type = call ptr @at(ptr %given_out, i64 8)
  %out_array = icmp eq ptr %out_type, %Array0
  br i1 %out_array, label %measure, label %under
measure:
  %out = phi ptr [null, %keywords], [%given_out, %given]
  %Array = load ptr, ptr @g_ndarray
  br label %each
each:  ; the largest array's number of elements
  %q = phi i64 [0, %measure], [%qnext, %qdone]
  %most = phi i64 [-1, %measure], [%most1, %qdone]
  %qend = icmp eq i64 %q, %n
  br i1 %qend, label %enough, label %ask_one
ask_one:
  %qa = call ptr @pointer(ptr %args, i64 %q)
  %qt = call ptr @at(ptr %qa, i64 8)
  %q_is = icmp eq ptr %qt, %Array
  br i1 %q_is, label %q_count, label %qdone
q_count:
  %qn = call i64 @elements(ptr %qa)
  %qmost = call i64 @llvm.smax.i64(i64 %most, i64 %qn)
  br label %qdone
qdone:
  %most1 = phi i64 [%most, %ask_one], [%qmost, %q_count]
  %qnext = add i64 %q, 1
  br label %each
enough:
  %least = call i64 @word(ptr %g, i64 3)
  %little = icmp slt i64 %most, %least
  br i1 %little, label %under, label %read

read:
  %i = phi i64 [0, %enough], [%inext, %next]
  %dt = phi i64 [-1, %enough], [%dt1, %next]
  %ref = phi ptr [null, %enough], [%ref1, %next]
  %tensors = phi i64 [0, %enough], [%tensors1, %next]
  %count = phi i64 [0, %enough], [%count1, %next]
  %bit = phi i64 [1, %enough], [%bit1, %next]
  %variant = phi i64 [0, %enough], [%variant1, %next]
  %odd = phi ptr [null, %enough], [%odd1, %next]  ; the array that does not lie as the others do, and its place among them
  %odd_at = phi i64 [0, %enough], [%odd_at1, %next]
  %all = icmp eq i64 %i, %n
  br i1 %all, label %choose, label %argument
argument:
  %a = call ptr @pointer(ptr %args, i64 %i)
  %role_at = add i64 %i, 32
  %role = call i64 @word(ptr %g, i64 %role_at)
  %two = icmp eq i64 %role, 2
  %twice = shl i64 %bit, 1
  %bit1 = select i1 %two, i64 %twice, i64 %bit
  %type = call ptr @at(ptr %a, i64 8)
  %is_array = icmp eq ptr %type, %Array
  br i1 %is_array, label %array, label %value
array:
  %number_only = icmp sgt i64 %role, 2
  %mask = icmp eq i64 %role, 5
  %not_mask = xor i1 %mask, true
  %unfit = and i1 %number_only, %not_mask
  br i1 %unfit, label %ask, label %layout
layout:
  %solid = call i1 @is_dense(ptr %a)
  %dtype = call ptr @at(ptr %a, i64 56)
  br i1 %mask, label %mask_dtype, label %find_dtype
mask_dtype:
  %Bool = load ptr, ptr @g_bool_dtype
  %is_bool = icmp eq ptr %dtype, %Bool
  %mask_fits = and i1 %is_bool, %solid
  br i1 %mask_fits, label %shape, label %ask
find_dtype:
  %unknown = icmp slt i64 %dt, 0
  br i1 %unknown, label %search, label %same_dtype
search:
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
  %found = select i1 %e0, i64 0, i64 %s1
  %foreign = icmp slt i64 %found, 0
  br i1 %foreign, label %under, label %whole
same_dtype:
  %k0 = add i64 %dt, 8
  %agreed = call ptr @pointer(ptr %g, i64 %k0)
  %agrees = icmp eq ptr %dtype, %agreed
  br i1 %agrees, label %whole, label %ask
whole:
  %dt_here = phi i64 [%found, %search], [%dt, %same_dtype]
  br i1 %solid, label %shape, label %gaps
gaps:
  %no_odd = icmp eq ptr %odd, null
  br i1 %no_odd, label %count_rows, label %ask
count_rows:
  %rows = call i64 @rows_of(ptr %a, ptr %odd_rows)
  %in_rows = icmp sgt i64 %rows, 0
  br i1 %in_rows, label %keep, label %ask
shape:
  %dt_array = phi i64 [%dt_here, %whole], [%dt, %mask_dtype]
  %first = icmp eq ptr %ref, null
  br i1 %first, label %keep, label %compare
compare:
  %same = call i1 @same_shape(ptr %ref, ptr %a)
  br i1 %same, label %order, label %ask
order:
  %alike = call i1 @laid_alike(ptr %ref, ptr %a)
  br i1 %alike, label %keep, label %ask
keep:
  %ref_here = phi ptr [%a, %shape], [%ref, %order], [%ref, %count_rows]
  %dt_kept = phi i64 [%dt_array, %shape], [%dt_array, %order], [%dt_here, %count_rows]
  %odd_here = phi ptr [%odd, %shape], [%odd, %order], [%a, %count_rows]
  %odd_place = phi i64 [%odd_at, %shape], [%odd_at, %order], [%tensors, %count_rows]
  %data = call ptr @at(ptr %a, i64 16)
  %own_size = call i64 @word(ptr %dtype, i64 5)
  call void @set_word(ptr %sizes, i64 %tensors, i64 %own_size)
  %place = add i64 %tensors, 1
  %slot = getelementptr ptr, ptr %context, i64 %place
  store ptr %data, ptr %slot
  br label %next
value:
  %fixed = icmp eq i64 %role, 4
  br i1 %fixed, label %is_fixed, label %number
is_fixed:
  %fixed_at = add i64 %i, 40
  %object = call ptr @pointer(ptr %g, i64 %fixed_at)
  %is_object = icmp eq ptr %object, %a
  br i1 %is_object, label %next, label %under
number:
  %three = icmp eq i64 %role, 3
  %may = or i1 %two, %three
  br i1 %may, label %which, label %ask
which:
  %Float = load ptr, ptr @g_float
  %Int = load ptr, ptr @g_int
  %is_float = icmp eq ptr %type, %Float
  br i1 %is_float, label %float, label %perhaps_int
float:
  %fp = getelementptr i8, ptr %a, i64 16
  %f = load double, ptr %fp
  br label %store_number
perhaps_int:
  %is_int = icmp eq ptr %type, %Int
  br i1 %is_int, label %int, label %ask
int:
  %d = call double @PyLong_AsDouble(ptr %a)
  %size_d = call double @llvm.fabs.f64(double %d)
  %exact = fcmp ole double %size_d, 9007199254740992.0
  br i1 %exact, label %perhaps_error, label %ask
perhaps_error:
  %minus = fcmp oeq double %d, -1.0
  br i1 %minus, label %error, label %store_number
error:
  %e = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %e, null
  br i1 %fine, label %store_number, label %clear
clear:
  call void @PyErr_Clear()
  br label %ask
store_number:
  %x = phi double [%f, %float], [%d, %perhaps_error], [%d, %error]
  %np = getelementptr double, ptr %numbers, i64 %count
  store double %x, ptr %np
  br label %next
next:
  %odd1 = phi ptr [%odd_here, %keep], [%odd, %is_fixed], [%odd, %store_number]
  %odd_at1 = phi i64 [%odd_place, %keep], [%odd_at, %is_fixed], [%odd_at, %store_number]
  %dt1 = phi i64 [%dt_kept, %keep], [%dt, %is_fixed], [%dt, %store_number]
  %ref1 = phi ptr [%ref_here, %keep], [%ref, %is_fixed], [%ref, %store_number]
  %t_step = phi i64 [1, %keep], [0, %is_fixed], [0, %store_number]
  %n_step = phi i64 [0, %keep], [0, %is_fixed], [1, %store_number]
  %tensors1 = add i64 %tensors, %t_step
  %count1 = add i64 %count, %n_step
  %counted = icmp eq i64 %n_step, 1
  %flag = and i1 %counted, %two
  %with = or i64 %variant, %bit
  %variant1 = select i1 %flag, i64 %with, i64 %variant
  %inext = add i64 %i, 1
  br label %read

choose:
  %none_known = icmp slt i64 %dt, 0
  br i1 %none_known, label %ask, label %highest
highest:  ; finite numbers beyond this one are refused beneath, or not, as the operator has it
  %h_at = add i64 %dt, 52
  %h_word = getelementptr double, ptr %g, i64 %h_at
  %high = load double, ptr %h_word
  br label %in_range
in_range:
  %v = phi i64 [0, %highest], [%vnext, %range_one]
  %vend = icmp eq i64 %v, %count
  br i1 %vend, label %kernel, label %range_one
range_one:
  %vp = getelementptr double, ptr %numbers, i64 %v
  %vx = load double, ptr %vp
  %vsize = call double @llvm.fabs.f64(double %vx)
  %vbeyond = fcmp ogt double %vsize, %high
  %vfinite = fcmp olt double %vsize, 0x7FF0000000000000
  %vrefused = and i1 %vbeyond, %vfinite
  %vnext = add i64 %v, 1
  br i1 %vrefused, label %under, label %in_range
kernel:
  %row = shl i64 %dt, 2
  %column = add i64 %row, %variant
  %k_whole = add i64 %column, 16
  %even = icmp eq ptr %odd, null
  br i1 %even, label %loop_of, label %oddly
oddly:  ; loops for an array that lies so beside others: by dtype, its place, and how its neighbours lie
  %o_makes = icmp eq ptr %out, null
  %o_varies = icmp eq i64 %variant, 0
  %o_early = icmp slt i64 %odd_at, 3
  %o_has = icmp ne ptr %ref, null
  %o_c0 = and i1 %o_makes, %o_varies
  %o_c1 = and i1 %o_early, %o_has
  %o_few = icmp sle i64 %tensors, 4  ; for whom the context has room
  %o_c2 = and i1 %o_c0, %o_c1
  %o_c = and i1 %o_c2, %o_few
  br i1 %o_c, label %odd_shape, label %ask
odd_shape:
  %ref_rows = call i1 @has_flags(ptr %ref, i32 1)
  %odd_same = call i1 @same_shape(ptr %ref, ptr %odd)
  %odd_fits = and i1 %ref_rows, %odd_same
  br i1 %odd_fits, label %odd_loop, label %ask
odd_loop:
  %odd_dtype = call ptr @at(ptr %odd, i64 56)
  %odd_size = call i64 @word(ptr %odd_dtype, i64 5)
  %odd_step = call i64 @word(ptr %odd_rows, i64 2)
  %odd_still = icmp eq i64 %odd_step, 0
  %odd_beside = icmp eq i64 %odd_step, %odd_size
  %odd_far = select i1 %odd_still, i64 1, i64 2
  %odd_kind = select i1 %odd_beside, i64 0, i64 %odd_far
  %odd_thrice = mul i64 %odd_at, 3
  %odd_block = mul i64 %dt, 9
  %odd_row = add i64 %odd_block, %odd_thrice
  %odd_column = add i64 %odd_row, %odd_kind
  %k_odd = add i64 %odd_column, 56
  br label %loop_of
loop_of:
  %k_at = phi i64 [%k_whole, %kernel], [%k_odd, %odd_loop]
  %function = call ptr @pointer(ptr %g, i64 %k_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %compile, label %move
compile:  ; not yet there: for a few elements it is made only if the kernel beneath has other last bits
  %compiled_from = call i64 @word(ptr %g, i64 6)
  %to_make = call i64 @spread_elements(ptr %args, i64 %n)
  %of_halves = icmp sge i64 %dt, 2
  %of_fewer = icmp sgt i64 %to_make, %most
  %slow = and i1 %of_halves, %of_fewer  ; of which NumPy takes many times as long
  %slow_make = shl i64 %to_make, 4
  %counts_as = select i1 %slow, i64 %slow_make, i64 %to_make
  %too_few = icmp slt i64 %counts_as, %compiled_from
  br i1 %too_few, label %count_down, label %serve
count_down:  ; but many calls of few elements are worth it, too
  %left_at = getelementptr i64, ptr %g, i64 7
  %left = load i64, ptr %left_at
  %left1 = sub i64 %left, 1
  store i64 %left1, ptr %left_at
  %due = icmp eq i64 %left1, 0
  br i1 %due, label %serve, label %under
move:  ; the numbers come after the arrays
  %m = phi i64 [0, %loop_of], [%mnext, %move_one]
  %mend = icmp eq i64 %m, %count
  br i1 %mend, label %result, label %move_one
move_one:
  %mp = getelementptr double, ptr %numbers, i64 %m
  %mv = load double, ptr %mp
  %m0 = add i64 %m, %tensors
  %m1 = add i64 %m0, 1
  %mt = getelementptr double, ptr %context, i64 %m1
  store double %mv, ptr %mt
  %mnext = add i64 %m, 1
  br label %move
result:
  %r_at = add i64 %dt, 12
  %r_dtype = call ptr @pointer(ptr %g, i64 %r_at)
  %make = icmp eq ptr %out, null
  br i1 %make, label %new, label %check_out
new:
  %c_at = add i64 %dt, 48
  %cached_from = call i64 @word(ptr %g, i64 %c_at)
  %cached = icmp sge i64 %most, %cached_from
  %made = call ptr @new_like(ptr %ref, ptr %r_dtype, i1 %cached)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %fail, label %go
fail:
  ret ptr null
check_out:
  %o_free = call i1 @has_flags(ptr %out, i32 1280)
  %o_dtype = call ptr @at(ptr %out, i64 56)
  %o_fits = icmp eq ptr %o_dtype, %r_dtype
  %o_shape = call i1 @same_shape(ptr %ref, ptr %out)
  %o1 = and i1 %o_free, %o_fits
  %o2 = and i1 %o1, %o_shape
  br i1 %o2, label %out_order, label %ask
out_order:
  %o_alike = call i1 @laid_alike(ptr %ref, ptr %out)
  br i1 %o_alike, label %overlaps, label %ask
overlaps:
  %o_data = call i64 @word(ptr %out, i64 2)
  %ref_dtype = call ptr @at(ptr %ref, i64 56)
  %o_size = call i64 @word(ptr %o_dtype, i64 5)
  %ref_size = call i64 @word(ptr %ref_dtype, i64 5)
  %most_size = call i64 @llvm.smax.i64(i64 %o_size, i64 %ref_size)
  %bytes = mul i64 %most, %most_size
  br label %look
look:
  %h = phi i64 [0, %overlaps], [%hnext, %apart]
  %hend = icmp eq i64 %h, %tensors
  br i1 %hend, label %write, label %look_one
look_one:
  %hnext = add i64 %h, 1
  %hv = call i64 @word(ptr %context, i64 %hnext)
  %distance = sub i64 %hv, %o_data
  %negative = icmp slt i64 %distance, 0
  %opposite = sub i64 0, %distance
  %gap = select i1 %negative, i64 %opposite, i64 %distance
  %near = icmp slt i64 %gap, %bytes
  %other = icmp ne i64 %gap, 0
  %partly = and i1 %near, %other
  br i1 %partly, label %ask, label %apart
apart:
  br label %look
write:
  call void @Py_IncRef(ptr %out)
  br label %go
go:
  %target = phi ptr [%made, %new], [%out, %write]
  %t_data = call ptr @at(ptr %target, i64 16)
  store ptr %t_data, ptr %context
  %grain = call i64 @word(ptr %g, i64 5)
  br i1 %even, label %run_it, label %geometry
geometry:
  %behind = add i64 %tensors, %count
  %behind1 = add i64 %behind, 1
  %geo = getelementptr i64, ptr %context, i64 %behind1
  %made_size = call i64 @word(ptr %r_dtype, i64 5)
  call void @write_rows(ptr %geo, ptr %odd, i64 %odd_at, i64 %tensors, i64 %made_size, ptr %sizes)
  br label %run_it
run_it:
  call void @perform(ptr %function, ptr %context, i64 %most, i64 %grain)
  ret ptr %target

ask:
  %broadcast = icmp eq ptr %out, null
  br i1 %broadcast, label %broadcast_it, label %otherwise
broadcast_it:
  %b = call ptr @spread(ptr %g, ptr %args, i64 %n, ptr %found_loop)
  %b_none = icmp eq ptr %b, null
  br i1 %b_none, label %b_why, label %b_done
b_done:
  ret ptr %b
b_why:
  %why = load i64, ptr %found_loop
  %b_waits = icmp sgt i64 %why, 0
  %b_failed = icmp slt i64 %why, 0
  br i1 %b_failed, label %fail, label %b_perhaps
b_perhaps:
  br i1 %b_waits, label %compile, label %otherwise
otherwise:
  %serve_least = call i64 @word(ptr %g, i64 4)
  %no = icmp slt i64 %most, %serve_least
  br i1 %no, label %spread, label %serve
spread:  ; what is made may be larger than all it is made of; half precision takes NumPy many times as long
  %makes = call i64 @spread_elements(ptr %args, i64 %n)
  %half = icmp sge i64 %dt, 2
  %often = shl i64 %makes, 4
  %counted_as = select i1 %half, i64 %often, i64 %makes
  %larger = icmp sgt i64 %makes, %most
  %enough_made = icmp sge i64 %counted_as, %serve_least
  %spreads = and i1 %larger, %enough_made
  br i1 %spreads, label %serve, label %under
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
  %passed = call ptr @PyObject_Vectorcall(ptr %beneath, ptr %args, i64 %n, ptr %names)
  ret ptr %passed
}
