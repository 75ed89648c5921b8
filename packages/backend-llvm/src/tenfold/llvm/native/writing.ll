; Writes into tensors without the interpreter: in-place operators, and calls with out=. Written is memory in one piece that nobody
; guards, to which no gradient leads; an argument may be the written tensor itself where the operator is elementwise, and none may
; share its storage otherwise. What is not so goes to the function's own code. Of a function's words (paths.ll) 32 says
; whether out= is taken (1), whether the operator is elementwise (2) and whether the function writes in place (4).

@g_out_names = global ptr null  ; ("out",)

; The array of a tensor that may be written; null where Python has to look.
define ptr @writable(ptr %tensor, i32 %wanted) {
entry:
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %look, label %no
look:
  %array = call ptr @plain_array(ptr %tensor, i32 %wanted)
  %none = icmp eq ptr %array, null
  br i1 %none, label %no, label %memory
memory:
  %storage = call ptr @field(ptr %tensor, ptr @p_storage)
  %None = load ptr, ptr @g_None
  %unset = icmp eq ptr %storage, null
  br i1 %unset, label %no, label %has
has:
  %own = icmp eq ptr %storage, %None
  br i1 %own, label %yes, label %kind
kind:
  %Storage = load ptr, ptr @p_Storage
  %False = load ptr, ptr @g_False
  %of = call ptr @at(ptr %storage, i64 8)
  %known = icmp eq ptr %of, %Storage
  br i1 %known, label %guard, label %no
guard:
  %guarded = call ptr @field(ptr %storage, ptr @u_guarded_at)
  %version = call ptr @field(ptr %storage, ptr @p_version)
  %free = icmp eq ptr %guarded, %False
  %counted = icmp ne ptr %version, null
  %both = and i1 %free, %counted
  br i1 %both, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; Whether an argument leaves a tensor's memory alone, or is that tensor where `itself` says that it may be.
define i1 @lies_apart(ptr %v, ptr %target, i1 %itself) {
entry:
  %same = icmp eq ptr %v, %target
  br i1 %same, label %self, label %other
self:
  ret i1 %itself
other:
  %type = call ptr @at(ptr %v, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %tensor, label %yes
tensor:
  %None = load ptr, ptr @g_None
  %mine = call ptr @field(ptr %target, ptr @p_storage)
  %theirs = call ptr @field(ptr %v, ptr @p_storage)
  %shared = icmp eq ptr %mine, %theirs
  %some = icmp ne ptr %mine, %None
  %meets = and i1 %shared, %some
  br i1 %meets, label %no, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; Count a write; false with an error where there is no memory.
define i1 @note_write(ptr %tensor, ptr %array) {
entry:
  %None = load ptr, ptr @g_None
  %storage = call ptr @field(ptr %tensor, ptr @p_storage)
  %none = icmp eq ptr %storage, %None
  br i1 %none, label %make, label %count
make:
  %made = call ptr @new_storage(ptr %array)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %no, label %put
put:
  call void @replace(ptr %tensor, ptr @p_storage, ptr %made)
  br label %count
count:
  %counted = phi ptr [%storage, %entry], [%made, %put]
  %version = call ptr @field(ptr %counted, ptr @p_version)
  %n = call i64 @PyLong_AsSsize_t(ptr %version)
  %more = add i64 %n, 1
  %new = call ptr @PyLong_FromSsize_t(i64 %more)
  %no_number = icmp eq ptr %new, null
  br i1 %no_number, label %no, label %set
set:
  call void @replace(ptr %counted, ptr @p_version, ptr %new)
  ret i1 true
no:
  ret i1 false
}

; Let a native kernel write into a tensor's array: 1 where it has, 0 where it has not, -1 with an error. An elementwise kernel
; writes there at once; what another one makes is copied, and few numbers of half precision: not all that NumPy's kernels do beneath
; the gate is done into a given array.
define internal i64 @write_with(ptr %kernel, ptr %given, i64 %m, ptr %tensor, ptr %array) {
entry:
  %ml = call ptr @at(ptr %kernel, i64 16)
  %receiver = call ptr @at(ptr %kernel, i64 24)
  %function = call ptr @at(ptr %ml, i64 8)
  %gated = icmp eq ptr %function, @gate
  %dtype = call ptr @at(ptr %array, i64 56)
  %half = call i1 @is_half(ptr %dtype)
  %elements = call i64 @elements(ptr %array)
  %few = icmp slt i64 %elements, 4096
  %few_halves = and i1 %half, %few
  %all = xor i1 %few_halves, true
  %direct = and i1 %gated, %all
  br i1 %direct, label %into, label %beside
into:
  %slot = getelementptr ptr, ptr %given, i64 %m
  store ptr %array, ptr %slot
  %names = load ptr, ptr @g_out_names
  %r = call ptr @gate(ptr %receiver, ptr %given, i64 %m, ptr %names)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %clear, label %answered
answered:
  call void @Py_DecRef(ptr %r)  ; the tensor holds its array
  %is_ours = icmp eq ptr %r, %array
  br i1 %is_ours, label %count, label %no
beside:
  %made = call ptr @PyObject_Vectorcall(ptr %kernel, ptr %given, i64 %m, ptr null)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %clear, label %look
look:
  %Array = load ptr, ptr @g_ndarray
  %type = call ptr @at(ptr %made, i64 8)
  %is_array = icmp eq ptr %type, %Array
  br i1 %is_array, label %fit, label %drop
fit:
  %solid = call i1 @is_dense(ptr %array)
  %made_solid = call i1 @is_dense(ptr %made)
  %made_dtype = call ptr @at(ptr %made, i64 56)
  %one_dtype = icmp eq ptr %made_dtype, %dtype
  %one_shape = call i1 @same_shape(ptr %made, ptr %array)
  %c0 = and i1 %solid, %made_solid
  %c1 = and i1 %c0, %one_dtype
  %c = and i1 %c1, %one_shape
  br i1 %c, label %order, label %drop
order:
  %one_order = call i1 @laid_alike(ptr %made, ptr %array)
  br i1 %one_order, label %copy, label %drop
copy:
  %source = call ptr @at(ptr %made, i64 16)
  %data = call ptr @at(ptr %array, i64 16)
  %bytes = call i64 @size_in_bytes(ptr %array)
  call void @copy_all(ptr %data, ptr %source, i64 %bytes)
  call void @Py_DecRef(ptr %made)
  br label %count
drop:
  call void @Py_DecRef(ptr %made)
  br label %no
count:
  %noted = call i1 @note_write(ptr %tensor, ptr %array)
  br i1 %noted, label %yes, label %fail
clear:
  call void @forget()
  %still = call ptr @PyErr_Occurred()  ; an interrupt, after which nothing is to be written once more
  %forgotten = icmp eq ptr %still, null
  br i1 %forgotten, label %no, label %fail
yes:
  ret i64 1
no:
  ret i64 0
fail:
  ret i64 -1
}

; A call with out= as the last name: the output where it could be written, null where the function's own code has to see.
; `failed` tells an error from that.
define internal ptr @write_out(ptr %words, ptr %values, ptr %kernel, ptr %given, i64 %m, ptr %out, ptr %dtype_is, ptr %failed) {
entry:
  %takes_word = call i64 @word(ptr %words, i64 32)
  %takes = and i64 %takes_word, 1
  %elementwise = and i64 %takes_word, 2
  %takes_it = icmp ne i64 %takes, 0
  %itself = icmp ne i64 %elementwise, 0
  br i1 %takes_it, label %look, label %no
look:
  %array = call ptr @writable(ptr %out, i32 1281)
  %none = icmp eq ptr %array, null
  br i1 %none, label %no, label %graph
graph:  ; neither the output nor what it is a view of
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %out, ptr @p_node)
  %base = call ptr @field(ptr %out, ptr @p_base)
  %free = icmp eq ptr %node, %None
  %whole = icmp eq ptr %base, %None
  %dtype = call ptr @at(ptr %array, i64 56)
  %expected = load ptr, ptr %dtype_is
  %one_dtype = icmp eq ptr %dtype, %expected
  %c0 = and i1 %free, %one_dtype
  br i1 %c0, label %view, label %no
view:
  br i1 %whole, label %apart, label %viewed
viewed:
  %base_type = call ptr @at(ptr %base, i64 8)
  %base_is = call i1 @is_tensor(ptr %base_type)
  br i1 %base_is, label %base_graph, label %no
base_graph:
  %base_node = call ptr @field(ptr %base, ptr @p_node)
  %base_free = icmp eq ptr %base_node, %None
  br i1 %base_free, label %apart, label %no
apart:
  %count = call i64 @word(ptr %words, i64 1)
  %ml = call ptr @at(ptr %kernel, i64 16)
  %of = call ptr @at(ptr %ml, i64 8)
  %beside = icmp ne ptr %of, @gate
  br label %each
each:  ; of an elementwise result the shape is known before: that of some tensor, which the others are broadcast to
  %i = phi i64 [0, %apart], [%inext, %fine]
  %shaped = phi i1 [%beside, %apart], [%shaped_next, %fine]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %all, label %one
all:
  br i1 %shaped, label %run, label %no
one:
  %v = call ptr @pointer(ptr %values, i64 %i)
  %role_at = add i64 %i, 8
  %role = call i64 @word(ptr %words, i64 %role_at)
  %listed = icmp eq i64 %role, 6
  %clear = call i1 @lies_apart(ptr %v, ptr %out, i1 %itself)
  %not_list = xor i1 %listed, true
  %good = and i1 %clear, %not_list
  br i1 %good, label %shape, label %no
shape:
  %v_type = call ptr @at(ptr %v, i64 8)
  %v_is = call i1 @is_tensor(ptr %v_type)
  br i1 %v_is, label %measure, label %fine
measure:
  %v_array = call ptr @field(ptr %v, ptr @p_array)
  %v_shaped = call i1 @same_shape(ptr %v_array, ptr %array)
  br label %fine
fine:
  %found = phi i1 [false, %shape], [%v_shaped, %measure]
  %shaped_next = or i1 %shaped, %found
  %inext = add i64 %i, 1
  br label %each
run:
  %written = call i64 @write_with(ptr %kernel, ptr %given, i64 %m, ptr %out, ptr %array)
  switch i64 %written, label %fail [
    i64 1, label %yes
    i64 0, label %no
  ]
yes:
  call void @Py_IncRef(ptr %out)
  ret ptr %out
fail:
  store i1 true, ptr %failed
  ret ptr null
no:
  ret ptr null
}

; A call of an in-place operator's function, or of a method such as `__iadd__`.
define internal ptr @write_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %values = alloca [8 x ptr]
  %given = alloca [9 x ptr]
  %dtype_is = alloca ptr
  %recorded_is = alloca i1
  %ref_is = alloca ptr
  store ptr null, ptr %ref_is
  store ptr null, ptr %dtype_is
  store i1 false, ptr %recorded_is
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  br i1 %usual, label %order, label %slow
order:
  %fits = call i1 @arrange(ptr %words, ptr %args, i64 %n, ptr %names, i64 0, ptr %values)
  br i1 %fits, label %target, label %slow
target:
  %tensor = load ptr, ptr %values
  %elementwise_word = call i64 @word(ptr %words, i64 32)
  %elementwise = and i64 %elementwise_word, 2
  %itself = icmp ne i64 %elementwise, 0
  %written_wanted = select i1 %itself, i32 1280, i32 1281
  %array = call ptr @writable(ptr %tensor, i32 %written_wanted)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %slow, label %begin
begin:
  %count = call i64 @word(ptr %words, i64 1)
  %wanted_word = call i64 @word(ptr %words, i64 5)
  %all_wanted = trunc i64 %wanted_word to i32
  %may_be_half = icmp sgt i64 %wanted_word, 4294967295
  %any_order = and i32 %all_wanted, -2
  %wanted = select i1 %itself, i32 %any_order, i32 %all_wanted
  br label %read
read:
  %i = phi i64 [0, %begin], [%inext, %next]
  %m = phi i64 [0, %begin], [%mnext, %next]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %graph, label %one
one:
  %v = call ptr @pointer(ptr %values, i64 %i)
  %role_at = add i64 %i, 8
  %role = call i64 @word(ptr %words, i64 %role_at)
  %may_lack = icmp uge i64 %role, 16
  %None = load ptr, ptr @g_None
  %is_none = icmp eq ptr %v, %None
  %lacks = and i1 %may_lack, %is_none
  br i1 %lacks, label %pass, label %by_role
by_role:
  %sort = and i64 %role, 15
  switch i64 %sort, label %slow [
    i64 1, label %tensor_one
    i64 2, label %either
    i64 3, label %pass
    i64 4, label %neutral
    i64 9, label %number
  ]
number:
  %counts = call i1 @is_number(ptr %v)
  br i1 %counts, label %pass, label %slow
neutral:
  %default_at = add i64 %i, 16
  %default = call ptr @pointer(ptr %words, i64 %default_at)
  %is_default = icmp eq ptr %default, %v
  br i1 %is_default, label %next, label %slow
either:
  %is_number = call i1 @is_number(ptr %v)
  br i1 %is_number, label %pass, label %tensor_one
tensor_one:
  %t_type = call ptr @at(ptr %v, i64 8)
  %t_is = call i1 @is_tensor(ptr %t_type)
  br i1 %t_is, label %array_one, label %slow
array_one:
  %x = call ptr @plain_array(ptr %v, i32 %wanted)
  %x_none = icmp eq ptr %x, null
  br i1 %x_none, label %slow, label %arranged
arranged:
  br i1 %itself, label %how_it_lies, label %dtype
how_it_lies:
  %x_goes = call i1 @goes_with(ptr %x, ptr %ref_is)
  br i1 %x_goes, label %dtype, label %slow
dtype:
  %x_fits = call i1 @agrees(ptr %x, ptr %dtype_is, i1 %may_be_half)
  br i1 %x_fits, label %apart, label %slow
apart:
  %is_first = icmp eq i64 %i, 0
  %may = or i1 %is_first, %itself
  %clear = call i1 @lies_apart(ptr %v, ptr %tensor, i1 %may)
  br i1 %clear, label %node, label %slow
node:
  %v_node = call ptr @field(ptr %v, ptr @p_node)
  %v_recorded = icmp ne ptr %v_node, %None
  %so_far = load i1, ptr %recorded_is
  %or = or i1 %so_far, %v_recorded
  store i1 %or, ptr %recorded_is
  br label %pass
pass:
  %passed = phi ptr [%v, %one], [%v, %by_role], [%v, %number], [%v, %either], [%x, %node]
  %g_slot = getelementptr ptr, ptr %given, i64 %m
  store ptr %passed, ptr %g_slot
  %m1 = add i64 %m, 1
  br label %next
next:
  %mnext = phi i64 [%m, %neutral], [%m1, %pass]
  %inext = add i64 %i, 1
  br label %read
graph:
  %has_node = load i1, ptr %recorded_is
  br i1 %has_node, label %ask, label %find
ask:
  %s1 = call i64 @word(ptr %flags, i64 1)
  %all_on = icmp eq i64 %s1, 0
  br i1 %all_on, label %slow, label %ask_thread
ask_thread:
  %on_here = call i1 @grad_is_on()
  br i1 %on_here, label %slow, label %find
find:
  %CPU = load ptr, ptr @p_CPU
  %kernels = call ptr @pointer(ptr %words, i64 2)
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %unknown = icmp eq ptr %k, null
  br i1 %unknown, label %slow, label %native
native:
  %Builtin = load ptr, ptr @p_builtin
  %k_type = call ptr @at(ptr %k, i64 8)
  %is_native = icmp eq ptr %k_type, %Builtin
  br i1 %is_native, label %run, label %slow
run:
  %written = call i64 @write_with(ptr %k, ptr %given, i64 %m, ptr %tensor, ptr %array)
  switch i64 %written, label %fail [
    i64 1, label %yes
    i64 0, label %slow
  ]
yes:
  call void @Py_IncRef(ptr %tensor)
  ret ptr %tensor
fail:
  ret ptr null
slow:
  %mixed = call ptr @mixed_call(ptr %words, ptr %args, i64 %nargsf, ptr %names)
  %unmixed = icmp eq ptr %mixed, null
  br i1 %unmixed, label %ordinarily, label %agreed
agreed:
  ret ptr %mixed
ordinarily:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
