; Calls of operators without the interpreter: what stands in the `vectorcall` field of a function such as tenfold.add, for
; tensors of the CPU that lie in one piece while no layer is entered. Everything else goes to the function's own code.
; call_paths.py fills the p_… variables and the words of each function: 0 tensors, 1 arguments, 2 the kernels by device,
; 3 whether the second argument may be a number, 4 the name under which the globals have what gives results their node.

@p_Tensor = global ptr null
@p_Parameter = global ptr null
@p_CPU = global ptr null
@p_globals = global ptr null   ; the globals of all generated call paths
@p_builtin = global ptr null   ; the type of a native kernel
@p_float32 = global ptr null
@p_float64 = global ptr null
@p_flags = global ptr null     ; four numbers: whether any thread has layers, no gradients, inference mode or transforms
@p_ordinary = global ptr null  ; the vectorcall of functions in Python
; Where a tensor's fields lie.
@p_array = global i64 0
@p_key = global i64 0
@p_node = global i64 0
@p_storage = global i64 0
@p_base = global i64 0

declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyDict_GetItemWithError(ptr, ptr)

define internal ptr @field(ptr %object, ptr %place) alwaysinline {
  %offset = load i64, ptr %place
  %p = getelementptr i8, ptr %object, i64 %offset
  %v = load ptr, ptr %p
  ret ptr %v
}

define internal void @set_field(ptr %object, ptr %place, ptr %value) alwaysinline {
  %offset = load i64, ptr %place
  %p = getelementptr i8, ptr %object, i64 %offset
  store ptr %value, ptr %p
  ret void
}

define internal i1 @is_tensor(ptr %type) alwaysinline {
  %Tensor = load ptr, ptr @p_Tensor
  %Parameter = load ptr, ptr @p_Parameter
  %t = icmp eq ptr %type, %Tensor
  %p = icmp eq ptr %type, %Parameter
  %any = or i1 %t, %p
  ret i1 %any
}

; The array of a tensor of the CPU that lies in one piece; null for any other.
define internal ptr @plain_array(ptr %tensor) {
entry:
  %CPU = load ptr, ptr @p_CPU
  %key = call ptr @field(ptr %tensor, ptr @p_key)
  %here = icmp eq ptr %key, %CPU
  br i1 %here, label %look, label %no
look:
  %array = call ptr @field(ptr %tensor, ptr @p_array)
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %empty1 = icmp eq ptr %array, null
  %empty2 = icmp eq ptr %node, null
  %empty = or i1 %empty1, %empty2
  br i1 %empty, label %no, label %type
type:
  %Array = load ptr, ptr @g_ndarray
  %of = call ptr @at(ptr %array, i64 8)
  %is = icmp eq ptr %of, %Array
  br i1 %is, label %flags, label %no
flags:
  %solid = call i1 @has_flags(ptr %array, i32 257)
  br i1 %solid, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; The call of a function with these words.
define internal ptr @call_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %given = alloca [3 x ptr]
  %n = and i64 %nargsf, 9223372036854775807
  %expected = call i64 @word(ptr %words, i64 1)
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %simple = and i1 %complete, %unnamed
  br i1 %simple, label %state, label %slow
state:
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s1 = call i64 @word(ptr %flags, i64 1)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s01 = or i64 %s0, %s1
  %s = or i64 %s01, %s2
  %usual = icmp eq i64 %s, 0
  br i1 %usual, label %first, label %slow
first:
  %a = load ptr, ptr %args
  %a_type = call ptr @at(ptr %a, i64 8)
  %a_tensor = call i1 @is_tensor(ptr %a_type)
  br i1 %a_tensor, label %first_array, label %slow
first_array:
  %x = call ptr @plain_array(ptr %a)
  %x_none = icmp eq ptr %x, null
  br i1 %x_none, label %slow, label %dtype
dtype:
  %dt = call ptr @at(ptr %x, i64 56)
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %single = icmp eq ptr %dt, %F32
  %double = icmp eq ptr %dt, %F64
  %floating = or i1 %single, %double
  br i1 %floating, label %begin, label %slow
begin:
  store ptr %x, ptr %given
  %x_node = call ptr @field(ptr %a, ptr @p_node)
  %None = load ptr, ptr @g_None
  %two = icmp eq i64 %n, 2
  br i1 %two, label %second, label %kernel
second:
  %b_at = getelementptr ptr, ptr %args, i64 1
  %b = load ptr, ptr %b_at
  %b_type = call ptr @at(ptr %b, i64 8)
  %b_tensor = call i1 @is_tensor(ptr %b_type)
  br i1 %b_tensor, label %second_array, label %number
second_array:
  %y = call ptr @plain_array(ptr %b)
  %y_none = icmp eq ptr %y, null
  br i1 %y_none, label %slow, label %same
same:
  %y_dt = call ptr @at(ptr %y, i64 56)
  %agree = icmp eq ptr %y_dt, %dt
  br i1 %agree, label %both, label %slow
both:
  %y_node = call ptr @field(ptr %b, ptr @p_node)
  br label %join
number:
  %may = call i64 @word(ptr %words, i64 3)
  %allowed = icmp ne i64 %may, 0
  %Float = load ptr, ptr @g_float
  %Int = load ptr, ptr @g_int
  %is_float = icmp eq ptr %b_type, %Float
  %is_int = icmp eq ptr %b_type, %Int
  %is_number = or i1 %is_float, %is_int
  %fits = and i1 %allowed, %is_number
  br i1 %fits, label %join, label %slow
join:
  %y_value = phi ptr [%y, %both], [%b, %number]
  %b_node = phi ptr [%y_node, %both], [%None, %number]
  %given1 = getelementptr ptr, ptr %given, i64 1
  store ptr %y_value, ptr %given1
  br label %kernel
kernel:
  %second_node = phi ptr [%None, %begin], [%b_node, %join]
  %x_free = icmp eq ptr %x_node, %None
  %y_free = icmp eq ptr %second_node, %None
  %free = and i1 %x_free, %y_free
  %attach_name = call ptr @pointer(ptr %words, i64 4)
  %no_rule = icmp eq ptr %attach_name, null
  %one = icmp eq ptr %attach_name, inttoptr (i64 1 to ptr)
  %recorded = xor i1 %free, true
  %stop = and i1 %recorded, %no_rule
  br i1 %stop, label %slow, label %find
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
  %r = call ptr @PyObject_Vectorcall(ptr %k, ptr %given, i64 %n, ptr null)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %clear, label %result
clear:  ; the ordinary path says what is wrong
  call void @PyErr_Clear()
  br label %slow
result:
  %Array = load ptr, ptr @g_ndarray
  %r_type = call ptr @at(ptr %r, i64 8)
  %r_array = icmp eq ptr %r_type, %Array
  br i1 %r_array, label %layout, label %drop
layout:
  %r_solid = call i1 @has_flags(ptr %r, i32 1)
  br i1 %r_solid, label %wrap, label %drop
drop:
  call void @Py_DecRef(ptr %r)
  br label %slow
wrap:
  %Tensor = load ptr, ptr @p_Tensor
  %t = call ptr @PyType_GenericAlloc(ptr %Tensor, i64 0)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %lose, label %fill
lose:
  call void @Py_DecRef(ptr %r)
  ret ptr null
fill:
  call void @Py_IncRef(ptr %CPU)
  call void @Py_IncRef(ptr %None)
  call void @Py_IncRef(ptr %None)
  call void @Py_IncRef(ptr %None)
  call void @set_field(ptr %t, ptr @p_array, ptr %r)
  call void @set_field(ptr %t, ptr @p_key, ptr %CPU)
  call void @set_field(ptr %t, ptr @p_storage, ptr %None)
  call void @set_field(ptr %t, ptr @p_base, ptr %None)
  call void @set_field(ptr %t, ptr @p_node, ptr %None)
  %unrecorded = or i1 %free, %one
  br i1 %unrecorded, label %done, label %record
done:
  ret ptr %t
record:
  %globals = load ptr, ptr @p_globals
  %attach = call ptr @PyDict_GetItemWithError(ptr %globals, ptr %attach_name)
  %absent = icmp eq ptr %attach, null
  br i1 %absent, label %undo, label %attaching
undo:
  call void @Py_DecRef(ptr %t)
  br label %slow
attaching:
  %all = alloca [3 x ptr]
  store ptr %t, ptr %all
  %all1 = getelementptr ptr, ptr %all, i64 1
  store ptr %a, ptr %all1
  br i1 %two, label %third, label %attach_it
third:
  %b_again = getelementptr ptr, ptr %args, i64 1
  %b_value = load ptr, ptr %b_again
  %all2 = getelementptr ptr, ptr %all, i64 2
  store ptr %b_value, ptr %all2
  br label %attach_it
attach_it:
  %m = add i64 %n, 1
  %answer = call ptr @PyObject_Vectorcall(ptr %attach, ptr %all, i64 %m, ptr null)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %raise, label %attached
raise:
  call void @Py_DecRef(ptr %t)
  ret ptr null
attached:
  call void @Py_DecRef(ptr %answer)
  ret ptr %t
slow:
  %ordinary = load ptr, ptr @p_ordinary
  %usual_way = call ptr %ordinary(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
