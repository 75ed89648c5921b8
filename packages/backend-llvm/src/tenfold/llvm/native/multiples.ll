; `add(x, y, alpha=2)` and `sub(x, y, alpha=2)` of floats on the CPU, those of half precision without gradients: calls of `add_scaled`, whose arguments they have in its order.
; Of a function's words are 39 the function of that operator, and 40 whether the multiple is subtracted, which is done here where no
; gradient is recorded, for the node of a difference has another name.

@g_alpha = global ptr null

declare ptr @PyFloat_FromDouble(double)

; Whether a tensor is of floats; of half precision, too, where it has no node.
define internal i1 @is_floating_tensor(ptr %v, i1 %unrecorded) {
entry:
  %type = call ptr @at(ptr %v, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %array, label %no
array:
  %a = call ptr @plain_array(ptr %v, i32 0)
  %none = icmp eq ptr %a, null
  br i1 %none, label %no, label %sort
sort:
  %kind = call i64 @sort_of(ptr %a)
  %floating = icmp sgt i64 %kind, 2
  %brief = icmp eq i64 %kind, 3
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %v, ptr @p_node)
  %free = icmp eq ptr %node, %None
  %must_be_free = or i1 %unrecorded, %brief
  %any = xor i1 %must_be_free, true
  %fine = or i1 %free, %any
  %c = and i1 %floating, %fine
  ret i1 %c
no:
  ret i1 false
}

; The result; null for any other call, and where an error has to be said in the operator's words.
define internal ptr @multiple_call(ptr %words, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %turned = alloca [3 x ptr]
  %function = call ptr @pointer(ptr %words, i64 39)
  %has = icmp ne ptr %function, null
  %n = and i64 %nargsf, 9223372036854775807
  %pair = icmp eq i64 %n, 2
  %named = icmp ne ptr %names, null
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %c0 = and i1 %has, %pair
  %c1 = and i1 %c0, %named
  %c = and i1 %c1, %usual
  br i1 %c, label %name, label %no
name:
  %count = call i64 @word(ptr %names, i64 2)
  %one = icmp eq i64 %count, 1
  %first_name = call ptr @pointer(ptr %names, i64 3)
  %alpha_name = load ptr, ptr @g_alpha
  %is_alpha = icmp eq ptr %first_name, %alpha_name
  %just_alpha = and i1 %one, %is_alpha
  br i1 %just_alpha, label %first, label %no
first:
  %negated_word = call i64 @word(ptr %words, i64 40)
  %negated = icmp ne i64 %negated_word, 0
  %a = call ptr @pointer(ptr %args, i64 0)
  %a_fine = call i1 @is_floating_tensor(ptr %a, i1 %negated)
  br i1 %a_fine, label %second, label %no
second:
  %b = call ptr @pointer(ptr %args, i64 1)
  %b_is_number = call i1 @is_number(ptr %b)
  %first_array = call ptr @field(ptr %a, ptr @p_array)
  %first_dtype = call ptr @at(ptr %first_array, i64 56)
  %first_half = call i1 @is_half(ptr %first_dtype)
  %first_wide = xor i1 %first_half, true
  %b_number = and i1 %b_is_number, %first_wide
  br i1 %b_number, label %multiple, label %second_tensor
second_tensor:
  %b_fine = call i1 @is_floating_tensor(ptr %b, i1 %negated)
  br i1 %b_fine, label %alike, label %no
alike:
  %a_array = call ptr @field(ptr %a, ptr @p_array)
  %b_array = call ptr @field(ptr %b, ptr @p_array)
  %a_dtype = call ptr @at(ptr %a_array, i64 56)
  %b_dtype = call ptr @at(ptr %b_array, i64 56)
  %same = icmp eq ptr %a_dtype, %b_dtype
  br i1 %same, label %multiple, label %no
multiple:
  %alpha = call ptr @pointer(ptr %args, i64 2)
  %number = call i1 @is_number(ptr %alpha)
  br i1 %number, label %sign, label %no
sign:
  br i1 %negated, label %turn, label %call
turn:
  %type = call ptr @at(ptr %alpha, i64 8)
  %Float = load ptr, ptr @g_float
  %fraction = icmp eq ptr %type, %Float
  br i1 %fraction, label %floating, label %whole
floating:
  %value_at = getelementptr i8, ptr %alpha, i64 16
  %as_float = load double, ptr %value_at
  %minus_float = fneg double %as_float
  br label %negate
whole:  ; of which zero has no sign
  %as_int = call double @PyLong_AsDouble(ptr %alpha)
  %minus_int = fsub double 0.0, %as_int
  br label %negate
negate:
  %minus = phi double [%minus_float, %floating], [%minus_int, %whole]
  %opposite = call ptr @PyFloat_FromDouble(double %minus)
  %lost = icmp eq ptr %opposite, null
  br i1 %lost, label %clear, label %arguments
arguments:
  store ptr %a, ptr %turned
  %at1 = getelementptr ptr, ptr %turned, i64 1
  store ptr %b, ptr %at1
  %at2 = getelementptr ptr, ptr %turned, i64 2
  store ptr %opposite, ptr %at2
  %difference = call ptr @PyObject_Vectorcall(ptr %function, ptr %turned, i64 3, ptr null)
  call void @Py_DecRef(ptr %opposite)
  br label %made
call:
  %sum = call ptr @PyObject_Vectorcall(ptr %function, ptr %args, i64 3, ptr null)
  br label %made
made:
  %result = phi ptr [%difference, %arguments], [%sum, %call]
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %clear, label %done
clear:
  call void @forget()
  br label %no
done:
  ret ptr %result
no:
  ret ptr null
}
