; Conversions of plain tensors without the interpreter: `x.long()` and its like, `x.to(dtype)`, and `x.to(device)` where it is there.
; Of a target's words (conversions.py) are 0 its dtype as NumPy has it, 8 the dtypes that are converted to it, 16 the loops for them,
; and 24 how many calls there were without one. A number beyond an integer's range is left to NumPy.

@c_words = global ptr null    ; the dictionary of all targets' words
@c_learn = global ptr null    ; a function that compiles a loop
@c_dtype = global ptr null    ; the class of dtypes
@c_cpu = global ptr null      ; the string "cpu"

define internal ptr @convert(ptr %words, ptr %tensor) {
entry:
  %context = alloca [3 x i64], align 64
  %told = alloca [2 x ptr]
  %flag = alloca i64
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %look, label %no
look:
  %array = call ptr @plain_array(ptr %tensor, i32 257)
  %none = icmp eq ptr %array, null
  br i1 %none, label %no, label %same
same:
  %target = call ptr @pointer(ptr %words, i64 0)
  %of = call ptr @at(ptr %array, i64 56)
  %there = icmp eq ptr %of, %target
  br i1 %there, label %itself, label %free
itself:
  call void @Py_IncRef(ptr %tensor)
  ret ptr %tensor
free:
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %unrecorded = icmp eq ptr %node, %None
  %count = call i64 @elements(ptr %array)
  %some = icmp sgt i64 %count, 0
  %c = and i1 %some, %unrecorded
  br i1 %c, label %search, label %no
search:
  %k = phi i64 [8, %free], [%knext, %other]
  %known = call ptr @pointer(ptr %words, i64 %k)
  %found = icmp eq ptr %known, %of
  br i1 %found, label %loop, label %other
other:
  %knext = add i64 %k, 1
  %end = icmp eq i64 %knext, 16
  br i1 %end, label %no, label %search
loop:
  %loop_at = add i64 %k, 8
  %function = call ptr @pointer(ptr %words, i64 %loop_at)
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %counted, label %make
counted:
  %calls_at0 = add i64 %k, 16
  %calls_at = getelementptr i64, ptr %words, i64 %calls_at0
  %calls = load i64, ptr %calls_at
  %many = icmp sge i64 %count, 16384  ; worth a loop at once
  %step = select i1 %many, i64 200, i64 1
  %calls1 = add i64 %calls, %step
  store i64 %calls1, ptr %calls_at
  %early = icmp slt i64 %calls, 200
  %enough = icmp sge i64 %calls1, 200
  %due = and i1 %early, %enough
  br i1 %due, label %learn, label %no
learn:
  %learner = load ptr, ptr @c_learn
  %where_int = ptrtoint ptr %words to i64
  %where = call ptr @PyLong_FromSsize_t(i64 %where_int)
  %which = call ptr @PyLong_FromSsize_t(i64 %k)
  %told1 = getelementptr ptr, ptr %told, i64 1
  store ptr %where, ptr %told
  store ptr %which, ptr %told1
  %answer = call ptr @PyObject_Vectorcall(ptr %learner, ptr %told, i64 2, ptr null)
  call void @Py_DecRef(ptr %where)
  call void @Py_DecRef(ptr %which)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %clear, label %learnt
clear:
  call void @forget()
  br label %no
learnt:
  call void @Py_DecRef(ptr %answer)
  br label %no
make:
  %target_size = call i64 @word(ptr %target, i64 5)
  %bytes = mul i64 %count, %target_size
  %large = icmp sge i64 %bytes, 262144
  %out = call ptr @new_like(ptr %array, ptr %target, i1 %large)
  %lost = icmp eq ptr %out, null
  br i1 %lost, label %fail, label %run
run:
  %out_data = call ptr @at(ptr %out, i64 16)
  %data = call ptr @at(ptr %array, i64 16)
  %context1 = getelementptr i64, ptr %context, i64 1
  %context2 = getelementptr i64, ptr %context, i64 2
  store i64 0, ptr %flag
  store ptr %out_data, ptr %context
  store ptr %data, ptr %context1
  store ptr %flag, ptr %context2
  call void @perform(ptr %function, ptr %context, i64 %count, i64 16384)
  %beyond = load i64, ptr %flag
  %fits = icmp eq i64 %beyond, 0
  br i1 %fits, label %wrap, label %drop
wrap:
  %made = call ptr @result_tensor(ptr %out)
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %out)
  br label %no
fail:
  call void @PyErr_Clear()
  br label %no
no:
  ret ptr null
}

; A method such as `Tensor.long`.
define internal ptr @convert_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %usual = call i1 @usual()
  %unnamed = icmp eq ptr %names, null
  %alone = icmp eq i64 %n, 1
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %alone
  br i1 %c, label %try, label %slow
try:
  %tensor = load ptr, ptr %args
  %made = call ptr @convert(ptr %words, ptr %tensor)
  %none = icmp eq ptr %made, null
  br i1 %none, label %slow, label %done
done:
  ret ptr %made
slow:
  %usual_way = call ptr @quick_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define ptr @path_to(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %usual = call i1 @usual()
  %unnamed = icmp eq ptr %names, null
  %pair = icmp eq i64 %n, 2
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %pair
  br i1 %c, label %which, label %slow
which:
  %tensor = load ptr, ptr %args
  %wanted = call ptr @pointer(ptr %args, i64 1)
  %type = call ptr @at(ptr %wanted, i64 8)
  %Dtype = load ptr, ptr @c_dtype
  %is_dtype = icmp eq ptr %type, %Dtype
  br i1 %is_dtype, label %dtype, label %place
place:
  %CPU = load ptr, ptr @p_CPU
  %text = load ptr, ptr @c_cpu
  %is_cpu = icmp eq ptr %wanted, %CPU
  %is_text = icmp eq ptr %wanted, %text
  %here = or i1 %is_cpu, %is_text
  br i1 %here, label %tensor_there, label %slow
tensor_there:
  %of = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %of)
  br i1 %is, label %key, label %slow
key:
  %its = call ptr @field(ptr %tensor, ptr @p_key)
  %is_there = icmp eq ptr %its, %CPU
  br i1 %is_there, label %itself, label %slow
itself:
  call void @Py_IncRef(ptr %tensor)
  ret ptr %tensor
dtype:
  %table = load ptr, ptr @c_words
  %number = call ptr @PyDict_GetItemWithError(ptr %table, ptr %wanted)
  %unknown = icmp eq ptr %number, null
  br i1 %unknown, label %slow, label %known
known:
  %address = call i64 @PyLong_AsSsize_t(ptr %number)
  %words = inttoptr i64 %address to ptr
  %made = call ptr @convert(ptr %words, ptr %tensor)
  %none = icmp eq ptr %made, null
  br i1 %none, label %slow, label %done
done:
  ret ptr %made
slow:
  %usual_way = call ptr @otherwise(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
